import fc from "fast-check";

/** Spellings of an IPv4 address: as an item, as the host of a URL, and in whatever embeds it. */
export function spellingsOfIpv4(address: string): fc.Arbitrary<string> {
  const octets = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const inUrl = fc.constantFrom(
    address,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0x${a.toString(16)}.${b}.0${(c * 256 + d).toString(8)}`,
    octets.map((octet) => `0${octet.toString(8)}`).join("."),
    octets.map((octet) => `%3${String(octet).split("").join("%3")}`).join("%2E"),
    fullWidth(address),
  );
  const hex = (value: number): string => value.toString(16);
  const [high, low] = [a * 256 + b, c * 256 + d];
  const [notHigh, notLow] = [high ^ 0xffff, low ^ 0xffff];
  const v6 = fc.constantFrom(
    `::ffff:${address}`,
    `0:0:0:0:0:FFFF:${hex(high)}:${hex(low)}`,
    `::${hex(high)}:${hex(low)}`,
    `::ffff:0:${address}`,
    `64:ff9b::${hex(high)}:${hex(low)}`,
    `0064:FF9B::${address}`,
    `64:ff9b:1::${address}`,
    `64:ff9b:1:${hex(high)}:${hex(low >> 8)}:${hex((low & 0xff) << 8)}::`,
    `2002:${hex(high)}:${hex(low)}::1`,
    `2001:0:${hex(high)}:${hex(low)}:8000:0:f7f7:f7f7`,
    `2001:0:808:404:8000:63bf:${hex(notHigh)}:${hex(notLow)}`,
    `2606:4700::5efe:${address}`,
    `fe80::200:5efe:${address}`,
  );
  const reverse = fc
    .constantFrom("", "_dns-sd._udp.", "0-25.")
    .map((before) => `${before}${octets.toReversed().join(".")}.in-addr.arpa`);
  return fc.oneof(
    fc.constantFrom(address, `${address}:443`, address.replaceAll(".", "[.]"), `IP: ${address}`),
    v6,
    v6.map((ip) => `[${ip}]:8443`),
    fc
      .oneof(
        inUrl,
        v6.map((ip) => `[${ip}]`),
      )
      .chain(urlsOf),
    spellingsOfName(reverse),
  );
}

/** Spellings of a name: bare, as the host of a URL, as the domain of an e-mail address. */
export function spellingsOfName(names: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const cased = fc
    .tuple(names, fc.constantFrom("lower", "upper", "full width", "defanged"))
    .map(([name, form]) => forms[form]!(name));
  const below = fc
    .tuple(fc.constantFrom("", "a.", "x_1.b."), cased)
    .map(([before, name]) => before + name);
  return fc.oneof(
    fc.tuple(below, dots).map(([name, end]) => name + end),
    below.chain(urlsOf),
    fc.tuple(below, dots).map(([name, end]) => `Ann.Smith+x@${name}${end}`),
  );
}

const forms: Readonly<Record<string, (name: string) => string>> = {
  lower: (name) => name,
  upper: (name) => name.toUpperCase(),
  "full width": (name) => name.replaceAll(".", "。"),
  defanged: (name) => name.replaceAll(".", "[.]"),
};

const dots = fc.constantFrom("", "", ".", "..", "....");

function urlsOf(host: string): fc.Arbitrary<string> {
  return fc
    .record({
      scheme: fc.constantFrom("http://", "HTTPS://", "hxxp://", "ftp://", "ws://", "http:\\\\", ""),
      user: fc.constantFrom("", "user:secret@"),
      end: host.startsWith("[") ? fc.constant("") : dots,
      port: fc.constantFrom("", ":8080", ":"),
      rest: fc.constantFrom("", "/", "/a?b=c#d", "?q", "#top"),
    })
    .map(({ scheme, user, end, port, rest }) => scheme + user + host + end + port + rest);
}

function fullWidth(text: string): string {
  return text.replaceAll(/[\d.]/g, (one) =>
    one === "." ? "。" : String.fromCharCode(one.charCodeAt(0) + 0xfee0),
  );
}
