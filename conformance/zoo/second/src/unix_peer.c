/* Asks the kernel's socket diagnosis for one unix socket by its inode. */
#include "second.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	struct nlmsghdr header;
	struct unix_diag_req request;
};

static bool ask(int fd, ino_t inode)
{
	struct question question = {
		.header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
		.request = {.sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_ino = (uint32_t)inode,
		            .udiag_show = UDIAG_SHOW_PEER, .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
	};

	return send(fd, &question, sizeof question, 0) == sizeof question;
}

static bool answer(const struct nlmsghdr *header, uint32_t *peer, unsigned *shutdown)
{
	const struct unix_diag_msg *message = NLMSG_DATA(header);
	size_t left = header->nlmsg_len - NLMSG_LENGTH(sizeof *message);
	struct rtattr *at = (struct rtattr *)((char *)NLMSG_DATA(header) + NLMSG_ALIGN(sizeof *message));

	if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	*peer = 0;
	*shutdown = 0;
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == UNIX_DIAG_PEER)
			memcpy(peer, RTA_DATA(at), sizeof *peer);
		if (at->rta_type == UNIX_DIAG_SHUTDOWN)
			*shutdown = *(unsigned char *)RTA_DATA(at);
	}
	return true;
}

bool unix_peer(ino_t inode, uint32_t *peer, unsigned *shutdown)
{
	_Alignas(struct nlmsghdr) char bytes[4096];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	bool known = false;

	if (fd < 0)
		return false;
	if (ask(fd, inode)) {
		ssize_t n = recv(fd, bytes, sizeof bytes, 0);

		known = n > 0 && NLMSG_OK((struct nlmsghdr *)bytes, (size_t)n) &&
		        answer((struct nlmsghdr *)bytes, peer, shutdown);
	}
	close(fd);
	return known;
}
