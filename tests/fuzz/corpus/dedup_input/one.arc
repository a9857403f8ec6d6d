filedesc://x.arc 0.0.0.0 20080430204825 text/plain 65
1 0 Maker
URL IP-address Archive-date Content-type Archive-length

http://a.test/ 192.0.2.1 20080430204825 text/html 23
HTTP/1.0 200 OK

<p>x
