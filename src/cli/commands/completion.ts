import { completionFlag, defineCommand } from "../command.js";
import { writeOut } from "../terminal/data-output.js";

const bash = `# Completion of repute for bash
_repute() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$(SHELL=bash repute ${completionFlag} "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)" -- "$current"))
}
complete -o bashdefault -o default -F _repute repute
`;

const zsh = `#compdef repute
# Completion of repute for zsh
_repute() {
  local -a found
  found=("\${(@f)$(SHELL=zsh repute ${completionFlag} "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found ]]; then _describe repute found; else _files; fi
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then _repute "$@"; else compdef _repute repute; fi
`;

const fish = `# Completion of repute for fish
function __repute_complete
  set -lx SHELL fish
  set -l found (repute ${completionFlag} (commandline -opc) "$(commandline -ct)" 2>/dev/null)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c repute -f -a '(__repute_complete)'
`;

const scripts = new Map(Object.entries({ bash, zsh, fish }));

export const completionCommand = defineCommand({
  name: "completion",
  usage: "bash|zsh|fish",
  summary: "print the script that completes commands and flags in a shell",
  description: [
    "Prints a script for bash, zsh or fish. Once the shell has read it, the Tab key completes commands, flags, the values of flags with a fixed choice, and file names.",
  ],
  operand: ["bash|zsh|fish", "shell to print the script for"],
  operandChoices: [...scripts.keys()],
  groups: {},
  examples: {
    "echo 'source <(repute completion bash)' >> ~/.bashrc": "complete in every new bash",
    "echo 'source <(repute completion zsh)' >> ~/.zshrc":
      "complete in every new zsh; the line belongs after compinit",
    "repute completion fish > ~/.config/fish/completions/repute.fish": "complete in every new fish",
  },
  run: async ({ operand, context }) => {
    await writeOut(context, scripts.get(operand) ?? "");
  },
});
