/* The Ising model's observation in plain C, the yardstick for swarmdp's kernel.

   Separable sums over 5 x 5 neighbourhoods on a torus, in bytes: down the columns of five rows, then
   along that row of sums. Spins are +1 and -1. No intrinsics: loops are written so that a compiler
   can vectorise them. */

#include <stdint.h>
#include <stdlib.h>

#define REACH 2
#define SITES 25 /* in a neighbourhood, its middle included */

/* Local energies of one row, from five rows of spins; sums has a border of REACH. */
static void row_energy(const int8_t *const rows[5], int32_t columns, int8_t *restrict sums,
                       uint8_t *restrict energy) {
    const int8_t *restrict r0 = rows[0], *restrict r1 = rows[1], *restrict r2 = rows[2];
    const int8_t *restrict r3 = rows[3], *restrict r4 = rows[4];
    for (int32_t x = 0; x < columns; x++) sums[x + REACH] = r0[x] + r1[x] + r2[x] + r3[x] + r4[x];
    for (int32_t x = 0; x < REACH; x++) {
        sums[x] = sums[columns + x];
        sums[columns + REACH + x] = sums[REACH + x];
    }
    for (int32_t x = 0; x < columns; x++) {
        int8_t sum = sums[x] + sums[x + 1] + sums[x + 2] + sums[x + 3] + sums[x + 4];
        int8_t alike = r2[x] > 0 ? sum : -sum; /* like minus unlike spins, itself included */
        energy[x] = (uint8_t)(SITES - alike) >> 1;
    }
}

/* The number of neighbours of opposite spin, for spins (runs, rows, columns). */
void local_energy(int32_t runs, int32_t rows, int32_t columns, const int8_t *spin,
                  uint8_t *energy) {
    int8_t *sums = malloc((size_t)columns + 2 * REACH);
    for (int32_t run = 0; run < runs; run++) {
        const int8_t *grid = spin + (size_t)run * rows * columns;
        uint8_t *out = energy + (size_t)run * rows * columns;
        for (int32_t y = 0; y < rows; y++) {
            const int8_t *five[2 * REACH + 1];
            for (int32_t d = -REACH; d <= REACH; d++)
                five[d + REACH] = grid + (size_t)((y + d + rows) % rows) * columns;
            row_energy(five, columns, sums, out + (size_t)y * columns);
        }
    }
    free(sums);
}
