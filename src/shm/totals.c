/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/totals.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "host/sys.h"

struct totals *totals_map(const char *path)
{
	struct totals *totals = MAP_FAILED;
	struct stat st;
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size == sizeof(*totals))
		totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	sys_call(SYS_close, fd);
	if (totals == MAP_FAILED)
		return NULL;
	if (totals->magic != WP_TOTALS_MAGIC || totals->version != WP_TOTALS_VERSION) {
		munmap(totals, sizeof(*totals));
		return NULL;
	}
	return totals;
}
