/** True when the text, which is known to be no domain, ends in a customary extension of files. */
export function hasFileExtension(text: string): boolean {
  const dot = text.lastIndexOf(".");
  if (dot < 0 || text.length - dot > longestExtension) return false;
  const extension = text.slice(dot + 1).toLowerCase();
  return extensions.has(extension);
}

const longestExtension = 24;

const extensions: ReadonlySet<string> = new Set(
  (
    "7z aac ace apk appx appxbundle arj asp aspx avi axd bak bat bin bmp bz2 cab cer cfg cfm chm " +
    "class cmd conf config cpl cpp crt crx csproj css csv dat db deb dex diagcab dll dmg doc docm " +
    "docx dot dotm dotx drv dump dylib ear elf eml eps eur evtx exe fon gif gz hta htm html ico " +
    "ics idx img inf ini ipa iqy iso jar jpeg jpg js jse json jsp jspx key lnk log lua lz lzma m3u " +
    "mht mhtml mp3 mp4 mpg msc msg msi msix msp mui nlp o ocx odt ole one onepkg otf ova p12 pcap " +
    "pdb pdf pem pfx php phtml pif plist png pps ppsx ppt pptm pptx prf properties ps1 ps1xml psd1 " +
    "psm1 pst pub pyc pyd pyw rar rb reg rpm rtf scr sct settingcontent-ms slk sln so sql sqlite svg " +
    "swf sys tar tgz tif tiff tmp toml ts tsv ttf txt url vb vbe vbs vhd vhdx vmdk vsix war wasm " +
    "wav webm wim woff wsc wsf wsh xbap xhtml xla xlam xll xls xlsb xlsm xlsx xlt xltm xml xps xsl " +
    "xz yaml yml z"
  ).split(" "),
);
