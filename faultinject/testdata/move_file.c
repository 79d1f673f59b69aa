/*
 * move_file: send descriptor 0, a file, to descriptor 1 by sendfile, splice
 * or copy_file_range, 300 bytes a call, or by one sendmmsg of three messages
 * of 100 bytes, until all is sent.
 *
 * Prints to stderr how many calls were short. Exit: 0 all sent, 70 an error.
 */
#include "target.h"
#include <sys/sendfile.h>
#include <sys/stat.h>

static long
send_batch(off_t at, off_t size)
{
	static unsigned char data[3][100];
	struct iovec v[3];
	struct mmsghdr m[3] = {0};
	int n = 0;
	for (int i = 0; i < 3 && at + i * 100 < size; i++, n++) {
		must("pread", pread(0, data[i], 100, at + i * 100));
		v[i] = (struct iovec){data[i], 100};
		m[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	}
	return must("sendmmsg", sendmmsg(1, m, n, 0)) * 100;
}

int
main(int argc, char **argv)
{
	struct stat st;
	loff_t at = 0, out = 0;
	int shorts = 0;
	if (argc != 2)
		usage("move_file CALL");
	must("fstat", fstat(0, &st));
	while (at < st.st_size) {
		loff_t before = at;
		long r;
		if (!strcmp(argv[1], "sendfile"))
			r = must("sendfile", sendfile(1, 0, &at, 300));
		else if (!strcmp(argv[1], "splice"))
			r = must("splice", splice(0, &at, 1, NULL, 300, 0));
		else if (!strcmp(argv[1], "copy_file_range"))
			r = must("copy_file_range", copy_file_range(0, &at, 1, &out, 300, 0));
		else
			r = send_batch(at, st.st_size);
		at = before + r;
		shorts += r < 300 && at < st.st_size;
	}
	fprintf(stderr, "shorts=%d\n", shorts);
	return 0;
}
