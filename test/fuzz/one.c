/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In libFuzzer's place: the files named, one after the other. */
#include "fuzz.h"

#define INPUT_BYTES (1 << 20)

int main(int argc, char **argv)
{
	static uint8_t data[INPUT_BYTES];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		uint8_t *exact;
		size_t bytes;

		if (!file) {
			perror(argv[i]);
			return 2;
		}
		bytes = fread(data, 1, sizeof(data), file);
		fclose(file);
		/* Why a copy: what is read beyond its end is seen by a sanitizer. */
		exact = malloc(bytes ? bytes : 1);
		must(exact);
		memcpy(exact, data, bytes);
		LLVMFuzzerTestOneInput(exact, bytes);
		free(exact);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
