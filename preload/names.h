/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Included before everything else in preload: a wrapper has the very name it is written with. On
 * machines of 32 bits a large off_t would make pwrite() another name for pwrite64(), musl has the
 * second as a macro.
 */
#ifndef WP_PRELOAD_NAMES_H
#define WP_PRELOAD_NAMES_H

#undef _FILE_OFFSET_BITS
#undef _TIME_BITS

#include <features.h>
/* The lists of lio_listio(), as the headers have them. */
#ifdef __GLIBC__
#define AIO_LIST(type) struct type *const
#else
#define AIO_LIST(type) struct type *restrict const
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>
#undef pwrite64
#undef pwritev64
#undef sendfile64
#undef freopen64
#undef truncate64
#undef ftruncate64
#undef posix_fallocate64
#undef aio_write64
#undef lio_listio64
#endif

#endif
