@rem Starts repute with the Node.js of its archive.
@"%~dp0..\libexec\node.exe" "%~dp0..\dist\program\repute.js" %*
