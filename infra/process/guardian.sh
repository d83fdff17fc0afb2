# Runs a server that knows nothing of its supervisor, and stops it when the supervisor's pipe (stdin) closes, also when
# the supervisor was killed with SIGKILL. The text comes in $GUARDIAN, since an unprivileged user may not be able to read
# the folder that it lies in.
#   $1 signal that stops the server   $2 tenths of a second until SIGKILL
#   $3 a folder to remove when the pipe has closed and the server has ended, or ''
stop=$1 patience=$2 remove=$3
shift 3
unset GUARDIAN

exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
trap 'kill -s "$stop" "$server" 2>/dev/null' TERM INT HUP

(
  while read -r _; do :; done <&3
  # From here on it goes to the end, in short sleeps: killed in one, it would leave it behind.
  trap '' TERM
  kill -s "$stop" "$server" 2>/dev/null
  while [ "$patience" -gt 0 ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; patience=$((patience - 1)); done
  kill -s KILL "$server" 2>/dev/null
  if [ -n "$remove" ]; then rm -rf "$remove"; fi
) &
watch=$!
exec 3<&-

# A trapped signal ends `wait` before the server has ended.
while :; do
  wait "$server" 2>/dev/null
  status=$?
  kill -0 "$server" 2>/dev/null || break
done
kill "$watch" 2>/dev/null
wait "$watch" 2>/dev/null
exit "$status"
