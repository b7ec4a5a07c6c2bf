#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs a test while a CPU goes off line and comes back, or the machine goes to sleep and
# is woken by its clock, again and again.
#
# usage: while-off.sh cpu|suspend TEST...

what=$1 times=0
shift

cpu()
{
	local cpu=/sys/devices/system/cpu/cpu1/online

	echo 0 > $cpu && echo 1 > $cpu
}

suspend()
{
	local events

	# Without an alarm nothing would wake it; with one that has come before it sleeps it
	# stays awake, as that is an event which was not there yet.
	echo 0 > /sys/class/rtc/rtc0/wakealarm &&
	read -r events < /sys/power/wakeup_count &&
	echo +1 > /sys/class/rtc/rtc0/wakealarm &&
	echo "$events" > /sys/power/wakeup_count &&
	echo freeze > /sys/power/state &&
	find_console_again
}

# After a suspend nothing comes out of the guest any more: virtio_console asks the host,
# before it can take an answer, whether anyone listens, and waits for one. Its probe does it
# right.
find_console_again()
{
	local driver=/sys/bus/virtio/drivers/virtio_console device

	for device in $driver/virtio*; do
		echo "${device##*/}" > $driver/unbind
		echo "${device##*/}" > $driver/bind
	done
}

"$@" &
pid=$!

# The test's tasks have to be where they want to be before a CPU goes.
until grep -qs "^PPid:.$pid\$" /proc/[0-9]*/status || ! kill -0 $pid; do
	sleep 0.1
done
sleep 0.3

while kill -0 $pid 2> /dev/null; do
	$what && times=$((times + 1))
	sleep 0.1
done
wait $pid
rc=$?

echo "# $what: $times times"
[ $times -ge 3 ] || { echo "not ok $what: too seldom"; rc=1; }
exit $rc
