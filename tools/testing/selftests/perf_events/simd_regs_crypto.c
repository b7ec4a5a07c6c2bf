// SPDX-License-Identifier: GPL-2.0
/*
 * AF_ALG requests as system calls for a worker: the way from user space into
 * kernel code that uses vector registers itself.
 */
#include <errno.h>
#include <linux/if_alg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "simd_regs_worker.h"

#define CRYPTO_BYTES	64	/* small: many requests, each with its own begin */
#define KEY_BYTES	32
#define IV_BYTES	16

/* What the kernel reads and writes in a request; lives as long as the worker. */
struct crypto_request {
	char data[CRYPTO_BYTES];
	char result[CRYPTO_BYTES];
	struct iovec iov;
	struct msghdr msg;
	__u64 control[(CMSG_SPACE(sizeof(__u32)) +
		       CMSG_SPACE(sizeof(struct af_alg_iv) + IV_BYTES)) / sizeof(__u64)];
};

/* Opens an operation socket of @algorithm, or returns a negative errno. */
static int crypto_open(const char *type, const char *algorithm)
{
	struct sockaddr_alg sa = { .salg_family = AF_ALG };
	char key[KEY_BYTES];
	int tfm, op = -1;

	strncpy((char *)sa.salg_type, type, sizeof(sa.salg_type) - 1);
	strncpy((char *)sa.salg_name, algorithm, sizeof(sa.salg_name) - 1);

	tfm = socket(AF_ALG, SOCK_SEQPACKET, 0);
	if (tfm < 0)
		return -errno;

	/* XTS wants two different halves. */
	memset(key, 0x5a, sizeof(key));
	key[0] = 1;
	if (bind(tfm, (struct sockaddr *)&sa, sizeof(sa)) ||
	    (!strcmp(type, "skcipher") &&
	     setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, sizeof(key))))
		goto out;
	op = accept(tfm, NULL, 0);
out:
	if (op < 0)
		op = -errno;
	close(tfm);
	return op;
}

static void crypto_set_control(struct crypto_request *req)
{
	struct cmsghdr *cmsg;
	struct af_alg_iv *iv;

	req->msg.msg_control = req->control;
	req->msg.msg_controllen = sizeof(req->control);

	cmsg = CMSG_FIRSTHDR(&req->msg);
	cmsg->cmsg_level = SOL_ALG;
	cmsg->cmsg_type = ALG_SET_OP;
	cmsg->cmsg_len = CMSG_LEN(sizeof(__u32));
	*(__u32 *)CMSG_DATA(cmsg) = ALG_OP_ENCRYPT;

	cmsg = CMSG_NXTHDR(&req->msg, cmsg);
	cmsg->cmsg_level = SOL_ALG;
	cmsg->cmsg_type = ALG_SET_IV;
	cmsg->cmsg_len = CMSG_LEN(sizeof(*iv) + IV_BYTES);
	iv = (struct af_alg_iv *)CMSG_DATA(cmsg);
	iv->ivlen = IV_BYTES;
}

int simd_crypto_calls(const char *type, const char *algorithm,
		      struct simd_call *calls, unsigned int *nr_calls)
{
	struct crypto_request *req;
	bool cipher = !strcmp(type, "skcipher");
	int op;

	op = crypto_open(type, algorithm);
	if (op < 0)
		return op;

	req = calloc(1, sizeof(*req));
	if (!req)
		return -ENOMEM;
	req->iov.iov_base = req->data;
	req->iov.iov_len = sizeof(req->data);
	req->msg.msg_iov = &req->iov;
	req->msg.msg_iovlen = 1;
	if (cipher)
		crypto_set_control(req);

	calls[(*nr_calls)++] = (struct simd_call) {
		.nr = SYS_sendmsg,
		.arg = { op, (uintptr_t)&req->msg, 0 },
	};
	calls[(*nr_calls)++] = (struct simd_call) {
		.nr = SYS_read,
		.arg = { op, (uintptr_t)req->result,
			 cipher ? CRYPTO_BYTES : 32 },
	};
	return 0;
}
