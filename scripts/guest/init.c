// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's process 1.  It owns the channels to the host: it runs the one
 * command that vm-run was asked to run, passes its output on, hands out the
 * files asked for, reports how the command ended and switches the guest off.
 *
 * The job is described by files in /job: argv, env and get, each a list of
 * strings that end in NUL.  The channels are virtio-serial ports, found by name:
 *
 *   out, err   what the command writes to its standard output and error
 *   verdict    "up", "get N SIZE" or "get N missing", and last "exit N"
 *   get.N      contents of the N-th file of /job/get
 *
 * With a file /job/tty, the command gets that terminal instead of out and err.
 * Kernel messages are on the serial console, and nothing else is.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#define MAX_STRINGS	256
#define PORT_WAIT_MS	120000
#define DRAIN_MS	200
#define MAX_FILES	64

static int verdict_fd = -1;

void broken(const char *fmt, ...)
{
	va_list ap;
	FILE *kmsg = fopen("/dev/kmsg", "w");

	va_start(ap, fmt);
	if (kmsg) {
		fputs("<2>guest init: ", kmsg);
		vfprintf(kmsg, fmt, ap);
		fputc('\n', kmsg);
		fclose(kmsg);
	}
	va_end(ap);
	sync();
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void mount_at(const char *type, const char *path, const char *options)
{
	mkdir(path, 0755);
	if (mount(type, path, type, 0, options) && errno != EBUSY && errno != ENODEV)
		broken("cannot mount %s on %s: %s", type, path, strerror(errno));
}

static void mount_all(void)
{
	mount_at("devtmpfs", "/dev", NULL);
	mount_at("proc", "/proc", NULL);
	mount_at("sysfs", "/sys", NULL);
	mount_at("devpts", "/dev/pts", "mode=0620,ptmxmode=0666");
	mount_at("tmpfs", "/dev/shm", "mode=1777");
	mount_at("tmpfs", "/tmp", "mode=1777");
	mount_at("tmpfs", "/run", "mode=0755");
	mount_at("debugfs", "/sys/kernel/debug", NULL);
	mount_at("tracefs", "/sys/kernel/tracing", NULL);
	mount_at("cgroup2", "/sys/fs/cgroup", NULL);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		broken("cannot bring up lo: %s", strerror(errno));
	close(fd);
}

/* Read a list of NUL-terminated strings; a missing file is an empty list. */
static char **read_strings(const char *path)
{
	static char *none[] = { NULL };
	size_t size = 0, n = 0;
	FILE *f = fopen(path, "r");
	char **list, *line = NULL;

	if (!f)
		return none;
	list = calloc(MAX_STRINGS + 1, sizeof(*list));
	while (n < MAX_STRINGS && getdelim(&line, &size, 0, f) > 0) {
		list[n++] = line;
		line = NULL;
		size = 0;
	}
	if (!feof(f))
		broken("%s has more than %d strings", path, MAX_STRINGS);
	fclose(f);
	return list;
}

/* Which port a file is. */
static const char *port_names[MAX_FILES];

static int open_port_now(const char *name)
{
	const char *dir = "/sys/class/virtio-ports";
	char path[PATH_MAX], line[64];
	struct dirent *de;
	int fd = -1;
	FILE *f;
	DIR *d = opendir(dir);

	while (d && fd < 0 && (de = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s/name", dir, de->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(path, sizeof(path), "/dev/%s", de->d_name);
			if (!strcmp(line, name))
				fd = open(path, O_WRONLY | O_CLOEXEC);
		}
		fclose(f);
	}
	if (d)
		closedir(d);
	return fd;
}

/* The ports appear some time after the device was found. */
static int open_port(const char *name)
{
	for (int ms = 0; ms < PORT_WAIT_MS; ms += 5) {
		int fd = open_port_now(name);

		if (fd >= MAX_FILES)
			broken("too many files are open");
		if (fd >= 0) {
			port_names[fd] = name;
			return fd;
		}
		usleep(5000);
	}
	broken("no channel named %s", name);
}

/* Its driver was taken from the device, and finds it again: the same port, a new file. */
static void reopen_port(int fd)
{
	int again = open_port(port_names[fd]);

	if (dup3(again, fd, O_CLOEXEC) < 0)
		broken("cannot reopen a channel: %s", strerror(errno));
	close(again);
}

static void write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == ENODEV)
			reopen_port(fd);
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			broken("cannot write to a channel: %s", strerror(errno));
		if (n > 0) {
			buf += n;
			len -= n;
		}
	}
}

static void __attribute__((format(printf, 1, 2))) verdict(const char *fmt, ...)
{
	char line[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	write_all(verdict_fd, line, n);
}

static void hand_out(int index, const char *path)
{
	static char buf[1 << 16];
	char name[16];
	long long size = 0;
	int in, out;
	ssize_t n;

	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0) {
		verdict("get %d missing\n", index);
		return;
	}
	snprintf(name, sizeof(name), "get.%d", index);
	out = open_port(name);
	while ((n = read(in, buf, sizeof(buf))) > 0) {
		write_all(out, buf, n);
		size += n;
	}
	close(out);
	close(in);
	verdict("get %d %lld\n", index, size);
}

/* The child's side: become the command. */
static void __attribute__((noreturn)) become(char **argv, char **env, int out, int err,
					     const char *tty)
{
	struct rlimit core = { 0, 0 };
	int in;

	setsid();
	in = open(tty ? tty : "/dev/null", O_RDWR);
	if (in < 0)
		broken("cannot open the command's input: %s", strerror(errno));
	if (tty) {
		ioctl(in, TIOCSCTTY, 0);
		out = in;
		err = in;
	}
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	setrlimit(RLIMIT_CORE, &core);
	if (chdir("/root"))
		broken("cannot enter /root: %s", strerror(errno));
	clearenv();
	for (; *env; env++)
		putenv(*env);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Move what is there to move; 0 when the writers are gone. */
static int relay(int from, int to)
{
	static char buf[1 << 16];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n > 0)
		write_all(to, buf, n);
	return n != 0;
}

/*
 * Pass output on until the command has ended and its output is dry.  Programs
 * that it left in the background may hold the pipes open: they are not waited for.
 */
static int run(char **argv, char **env, const char *tty)
{
	struct pollfd fds[2];
	int to[2], out[2], err[2], status = 0, ended = 0, done = 0;
	pid_t pid, gone;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		broken("no pipe: %s", strerror(errno));
	to[0] = open_port("out");
	to[1] = open_port("err");

	pid = fork();
	if (pid < 0)
		broken("cannot fork: %s", strerror(errno));
	if (!pid)
		become(argv, env, out[1], err[1], tty);
	close(out[1]);
	close(err[1]);
	fds[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };

	for (;;) {
		int open_ends = (fds[0].fd >= 0) + (fds[1].fd >= 0);
		int ready = poll(fds, 2, done || !open_ends ? DRAIN_MS : 20);

		for (int i = 0; ready > 0 && i < 2; i++)
			if (fds[i].fd >= 0 && fds[i].revents && !relay(fds[i].fd, to[i]))
				fds[i].fd = -1;
		if (done && (ready <= 0 || !open_ends))
			break;
		while ((gone = waitpid(-1, &status, WNOHANG)) > 0)
			if (gone == pid) {
				done = 1;
				ended = status;
			}
	}
	close(to[0]);
	close(to[1]);
	return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
}

int main(void)
{
	char **argv, **env, **get, **tty;
	int status, i;

	if (getpid() != 1) {
		fputs("init: not process 1 of a guest\n", stderr);
		return 1;
	}
	mount_all();
	loopback_up();
	keep_perf_hooks();
	sethostname("guest", 5);
	argv = read_strings("/job/argv");
	env = read_strings("/job/env");
	get = read_strings("/job/get");
	tty = read_strings("/job/tty");
	if (!argv[0])
		broken("no command in /job/argv");

	verdict_fd = open_port("verdict");
	verdict("up\n");
	status = run(argv, env, tty[0]);
	for (i = 0; get[i]; i++)
		hand_out(i, get[i]);
	verdict("exit %d\n", status);
	close(verdict_fd);
	sync();
	reboot(RB_AUTOBOOT);
	return 1;
}
