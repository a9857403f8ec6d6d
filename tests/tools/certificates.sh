#!/bin/sh
# Makes the certificates of tests/data/certificates again: certificates.sh FOLDER (needs openssl)
#
# They are for loopback tests only. Each file holds a certificate and its key, but for issuer.pem, which is public alone.
set -eu
cd "$1"
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
# self NAME SUBJECT CA DAYS: a certificate that its own key signs
self() {
    key "$1"
    openssl req -new -x509 -key "$1.key" -subj "/CN=$2" -days "$4" -out "$1.crt" \
        -addext "basicConstraints=critical,CA:$3" -addext "subjectAltName=DNS:$2"
}
# signed NAME ISSUER NAMES [OPTIONS]: a certificate of a server
signed() {
    name=$1 issuer=$2 names=$3
    shift 3
    key "$name"
    openssl req -new -key "$name.key" -subj "/CN=$name" -out "$name.csr"
    printf 'basicConstraints=critical,CA:FALSE\nsubjectAltName=%s\n' "$names" > "$name.ext"
    openssl x509 -req -in "$name.csr" -CA "$issuer.crt" -CAkey "$issuer.key" -CAcreateserial -extfile "$name.ext" \
        -out "$name.crt" "$@"
}
self tests issuer.invalid TRUE 36500
self nobody nobody.invalid TRUE 36500
self selfmade selfmade.test FALSE 36500
self issuer issuer.test TRUE 36500
signed a tests DNS:a.test -days 36500
signed good tests DNS:good.test -days 36500
signed also tests 'DNS:*.example.test,DNS:also.test' -days 36500
signed wrong tests DNS:other.test,DNS:www.other.test -days 36500
signed private nobody DNS:private.test -days 36500
signed expired tests DNS:expired.test -days 1
# openssl x509 -req knows no end date before version 3.4; openssl ca does.
mkdir -p ca && : > ca/index && echo 01 > ca/serial
printf '[ca]\ndefault_ca=c\n[c]\ndatabase=ca/index\nserial=ca/serial\nnew_certs_dir=ca\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' > ca/config
openssl ca -batch -config ca/config -cert tests.crt -keyfile tests.key -in expired.csr -extfile expired.ext \
    -startdate 20010101000000Z -enddate 20011231000000Z -notext -out expired.crt
mv tests.crt issuers.pem
for name in selfmade issuer a good also wrong private expired; do cat "$name.crt" "$name.key" > "$name.pem"; done
rm -rf ca ./*.key ./*.crt ./*.csr ./*.ext ./*.srl
