package shell_test

import "strings"

// readingLines are lines that are ReadOnly, one for each program of the table
// that is on most machines, with many of its flags.
func readingLines() []string {
	const lines = `
:
true
echo hello
echo -n "$HOME" $USER ~ *
printf '%s\n' a b "$x"
printf '%5d|%-5s|%%\n' 3 x
pwd -P
type ls cd
help cd
times
umask
umask -S
ulimit -a
ulimit -n
alias
jobs -l
hash
kill -l
kill -l 9
trap -p
shopt
shopt -s dotglob; echo *.none
set -euo pipefail; ls
command -v ls
command ls -l
command -V cd
builtin echo x
compgen -b
compgen -A function
test -f a.txt
test -d sub -a -f a.txt
[ -n "$HOME" ]
[ "$x" = y ] || echo no
[ ! -e nothing ]
[[ -f a.txt && a == a* ]]
[[ $HOME =~ ^/ ]]
[[ 3 -gt 2 ]]
(( 3 > 2 ))
echo $((1 + 2 * 3))
i=5; echo $((i + 1))
for ((i = 0; i < 3; i++)); do echo $i; done
for i in 1 2 3; do echo $((i * 2)); done
for f in *.txt; do echo "$f"; wc -l "$f"; done
for f in {a,b}.txt; do head -1 $f; done
while read -r line; do echo "$line"; done < a.txt
while IFS=, read -r x y; do echo "$y $x"; done < t.csv
cat a.txt | while read -r n; do echo "${n#1}"; done
if grep -q 1 a.txt; then echo yes; elif false; then echo no; else echo other; fi
case $HOME in /*) echo abs;; *) echo rel;; esac
until true; do echo never; done
x=$(cat a.txt); echo "${x:0:5}" "${#x}" "${x%%3*}" "${x//1/one}"
x=a; echo ${x:-b} ${y:+c} ${x^^}
a=(1 2 3); echo "${a[@]}" ${#a[@]} ${a[0]}
echo $(<a.txt)
cat <<< hello
cat <<'EOF'
$(rm -rf nothing)
EOF
cat <<EOF
$(echo inner)
EOF
diff <(sort a.txt) <(sort -r a.txt)
ls 2>/dev/null >&2
ls nothing 2>&1 | cat
{ ls; pwd; } | wc -l
(cd sub && ls)
cd sub; pwd; cd -
! grep -q nothing a.txt
time ls
ls && pwd || echo no; ls
exit 0
sleep 0
cat a.txt b.txt
cat -A bin
cat -- -o
tac a.txt
head -n 3 a.txt
head -3 a.txt b.txt
head -c 5 a.txt
tail -n +5 a.txt
tail -2 a.txt
wc a.txt
wc -l *.txt
nl -ba a.txt
od -c bin
od -A x -t x1z bin
fmt -w 20 a.txt
fold -w 3 a.txt
expand a.txt
unexpand -a a.txt
cut -d' ' -f1 b.txt
cut -c1-2 a.txt
paste a.txt b.txt
paste -sd, a.txt
join b.txt b.txt
comm -12 a.txt b.txt
tr a-z A-Z < b.txt
pr -2 a.txt
rev a.txt
column -t b.txt
column -s, -t t.csv
look a b.txt
tsort b.txt
numfmt --to=iec 123456
cksum a.txt
sum a.txt
md5sum a.txt
md5sum -c sums
sha1sum a.txt
sha224sum a.txt
sha256sum *.txt
sha384sum a.txt
sha512sum a.txt
b2sum a.txt
shasum -a 256 a.txt
cmp a.txt b.txt
cmp -l a.txt sub/c.txt
diff a.txt b.txt
diff -u a.txt b.txt
diff -ru . sub
diff -y a.txt b.txt
hexdump -C bin
hd bin
strings -n 1 bin
ls -la
ls -lhtrS --color=never
ls -R
ls *.txt
ls $x
dir
vdir
stat a.txt
stat -c '%n %s' *.txt
stat -f .
du -sh .
du -a --max-depth=1
df -h
df -T .
basename /a/b.txt .txt
dirname /a/b
readlink link
readlink -f link
realpath sub/../a.txt
pathchk a.txt
lsattr a.txt
getfacl a.txt
namei -l sub/deep
dircolors -p
grep -n 1 a.txt
grep -rn b .
grep -c 1 *.txt
grep -E '^(1|2)' a.txt
grep -iv x a.txt
grep -l -- -o *
grep -f b.txt a.txt
egrep '1|2' a.txt
fgrep 1 a.txt
jq . d.json
jq -r '.a[1].b' d.json
jq -c 'keys' d.json
seq 1 5
yes | head -2
expr 1 + 2
factor 12
echo '1+2' | bc
cal
ncal
objdump -h bin
readelf -h bin
size bin
sort a.txt
sort -nr a.txt
sort -t, -k2,2n t.csv
sort -u --reverse b.txt
sort --key=1 --numeric-sort a.txt
sort -c a.txt
sort -t - -k 1 a.txt
sort -- -o
shuf a.txt
shuf -n 2 -e a b c
shuf -i 1-10
uniq b.txt
uniq -c b.txt
uniq -d -f 1 b.txt
sort b.txt | uniq -c | sort -rn | head
base64 a.txt
echo aGk= | base64 -d
base32 a.txt
xxd bin
xxd -l 2 -c 4 bin
xxd -p bin
file a.txt
file -b --mime-type a.gz
file -i a.txt a.zip
tree -L 2
tree -d
tree -a -I .git
less a.txt
less -N a.txt
more a.txt
rg 1 a.txt
rg -n --no-heading b
fd txt
nm -D bin
xmllint --format d.xml
xmllint --xpath //b d.xml
iconv -f utf-8 -t latin1 a.txt
iconv -l
sdiff a.txt b.txt
sdiff -s a.txt b.txt
diff3 a.txt b.txt sub/c.txt
zcat a.gz
gzip -l a.gz
gzip -t a.gz
gzip -dc a.gz
gzip -cd a.gz | wc -l
gzip < a.txt | wc -c
gunzip -c a.gz
gunzip < a.gz
bzcat a.bz2
bzip2 -dc a.bz2
bzip2 -t a.bz2
xzcat a.xz
xz -dc a.xz
xz -l a.xz
xz -t a.xz
zgrep 1 a.gz
zgrep -c 1 a.gz
zdiff a.gz a.gz
zcmp a.gz a.gz
zless a.gz
git shortlog -sn HEAD
git shortlog -s -n --committer HEAD
git log -n 2 --committer=x
ffprobe -v error -show_entries stream=width:format=duration sub/*.mp4
tar tf a.tar
tar -tvf a.tar
tar tzf a.tgz
tar -tf ./a.tar sub
tar --list --file=a.tar
unzip -l a.zip
unzip -p a.zip a.txt
unzip -t a.zip
unzip -Z1 a.zip
zipinfo a.zip
ar t nothing.a
cpio -it < a.tar
openssl version
openssl dgst -sha256 a.txt
openssl rand -hex 8
openssl x509 -in a.txt -noout -text
ssh-keygen -l -f a.txt
man -w ls
whatis ls
apropos -e nothing
whereis ls
which ls
which -a ls
tput cols
stty size
sed -n 1p a.txt
sed -n '2,4p' a.txt
sed 's/1/one/g' a.txt
sed -E 's/([0-9])/<\1>/;s,2,two,I' a.txt
sed -e 1d -e '$d' a.txt
sed '/1/d' a.txt
sed '/^$/d;s/^ *//' a.txt
sed -n '/2/,/4/p' a.txt
sed ':a;N;$!ba;s/\n/ /g' a.txt
sed '1~2d' a.txt
sed 'y/12/ab/' a.txt
sed -n '$=' a.txt
sed '2q' a.txt
sed 5q a.txt b.txt
sed '/1/!s/2/x/' a.txt
sed '1a hello' a.txt
sed '1i\
hello' a.txt
sed -n '/1/{p;q}' a.txt
sed -n -e '/[[:digit:]]/p' a.txt
awk '{print $1}' a.txt
awk -F, '{print $2}' t.csv
awk '$1 > 5' a.txt
awk 'NR==2' a.txt
awk '{s+=$1} END {print s}' a.txt
awk -v x=3 '$1 == x {print "three"}' a.txt
awk '/1|2/ {print NR": "$0}' a.txt
awk '$1 > 5 || $1 < 2 {print ($1 > 3 ? "a" : "b")}' a.txt
awk 'BEGIN {for (i = 0; i < 3; i++) print i / 2}'
awk '{a[$1]++} END {for (k in a) print k, a[k]}' b.txt
awk '!seen[$0]++' b.txt
awk 'length > 1' a.txt
awk 'length > 1 {print length}' a.txt
awk '$1 > 1.5e1 && $1 >= 2 {x /= 2; print x}' a.txt
awk '/[[:digit:]]/ && $1 > 5 {print i++, $1 / 2}' a.txt
awk 'BEGIN{printf "%s\n", toupper("x")}'
find .
find . -name '*.txt'
find . -name *.txt
find . -type f -size +1c -print
find . -maxdepth 1 -type d
find . -newer a.txt
find sub -mtime +1 -o -empty
find . \( -name a.txt -o -name b.txt \) -print0
find . ! -name '*.txt' -printf '%p %s\n'
find . -path ./.git -prune -o -type f -print
find . -perm -u+r -ls
find -L . -type l
find ~ -maxdepth 1
find "$HOME" -maxdepth 1
find . -iname "$x"
find . -type f | sort | head
id
id -u
id -un root
whoami
groups
users
who
w
tty
uname -a
uname -srm
arch
nproc
nproc --all
hostid
uptime
printenv
printenv HOME
env
env | sort
env LC_ALL=C ls
nice ls
nice -n 5 ls
timeout 5 ls
timeout -k 1 5s cat a.txt
stdbuf -oL cat a.txt
getconf PAGE_SIZE
getconf -a
locale
locale -a
ps
ps aux
ps -ef
ps -eo pid,comm --sort=-pid
pgrep -l bash
pgrep -f nothing
pidof bash
pstree
pmap 1
free -m
vmstat
lsblk
lscpu
lsmem
lsns
lsipc
lslocks
lsmod
findmnt
findmnt -t tmpfs
ipcs
mount
mount -l
date
date +%s
date -u '+%Y-%m-%d'
date -d yesterday +%F
date -d @0 -u
date -r a.txt
date --iso-8601=seconds
date -R
getent passwd root
getent group
last -n 1
lastlog -u root
chage -l root
dmesg -T
sysctl -n kernel.ostype
sysctl -a
ldconfig -p
dpkg -l
dpkg -s bash
dpkg -S /bin/ls
dpkg -L bash
dpkg --print-architecture
dpkg-query -W
dpkg-query -l bash
update-alternatives --list nothing
systemctl status
systemctl list-units
journalctl -n 5 --no-pager
timedatectl
hostnamectl
loginctl
ip addr
ip -br link show
ip route show
ip route get 127.0.0.1
ip neigh
ip -s link
ifconfig
ifconfig lo
git status
git status --short --branch
git status -sb
git diff
git diff --stat
git diff --cached
git diff HEAD -- b.txt
git diff --name-only HEAD
git diff --no-index a.txt b.txt
git log
git log --oneline -5
git log -p -1
git log --graph --all --decorate
git log --format='%h %an %s' -n 3
git log --since=yesterday --author=n
git log -S again -- b.txt
git show
git show HEAD:a.txt
git show --stat v1
git blame a.txt
git blame -L 1,3 a.txt
git grep 1
git grep -n 1 -- '*.txt'
git ls-files
git ls-files -o --exclude-standard
git ls-tree -r HEAD
git cat-file -p HEAD
git cat-file -t v1
git rev-parse HEAD
git rev-parse --show-toplevel
git rev-parse --abbrev-ref HEAD
git rev-list --count HEAD
git describe --tags --always
git show-ref
git for-each-ref
git for-each-ref --format='%(refname)' refs/heads
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --list 'o*'
git branch --contains HEAD
git tag
git tag -l 'v*'
git tag -n
git tag --contains HEAD
git remote
git remote -v
git config --list
git config --get user.name
git config --get-regexp core
git stash list
git stash show
git worktree list
git merge-base HEAD other
git name-rev HEAD
git count-objects -v
git check-ignore a.txt
git shortlog -sn HEAD
git reflog
git reflog show
git fsck
git symbolic-ref HEAD
git version
git --version
git -C sub status
git --no-pager log -1
git var GIT_AUTHOR_IDENT
git clean -n
git cherry HEAD other
git show-branch
git diff-tree HEAD
git diff-files
git whatchanged -1
rm --help
cp --version
bash --version
python3 --version
python3 -V
perl -v
gcc --version
gcc -dumpmachine
make --version
curl --version
ssh -V
pip show nothing
pip freeze
pkg-config --list-all
uuidgen
mcookie
xset q
yq . d.yaml
csvlook t.csv
LC_ALL=C sort a.txt
TZ=UTC date
cat a.txt | grep 1 | sort | uniq -c | sort -rn | head -5 | awk '{print $2}'
find . -type f | grep -v .git | wc -l
ls -l | tail -n +2 | cut -c1-10 | sort -u
git log --oneline | wc -l
echo "today: $(date +%F), files: $(ls | wc -l)"
test -f a.txt && cat a.txt || echo none
ps aux | grep bash | grep -v grep | awk '{print $2}'
`
	// A here-document goes on to its end, a line that ends with \ to the next.
	var list, open []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case len(open) > 0:
			open = append(open, line)
			if line == "EOF" || strings.HasSuffix(open[0], `\`) {
				list, open = append(list, strings.Join(open, "\n")), nil
			}
		case strings.Contains(line, "EOF") || strings.HasSuffix(line, `\`):
			open = []string{line}
		case line != "":
			list = append(list, line)
		}
	}
	return list
}
