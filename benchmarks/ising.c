/* The Ising model's observation in plain C, the yardstick for swarmdp's kernel.

   Separable sums over 5 x 5 neighbourhoods with an open boundary, in bytes: down the columns of
   five rows, then along that row of sums. Spins are +1 and -1. No intrinsics: loops are written so
   that a compiler can vectorise them. */

#include <stdint.h>
#include <stdlib.h>

#define REACH 2

static int32_t within(int32_t place, int32_t size) { /* places within reach, itself included */
    int32_t first = place > REACH ? place - REACH : 0;
    int32_t last = place + REACH < size ? place + REACH : size - 1;
    return last - first + 1;
}

/* Local energies of one row, from five rows of spins; sums has a border of REACH zeros. */
static void row_energy(const int8_t *const rows[5], const int8_t *restrict sites, int32_t columns,
                       int8_t *restrict sums, uint8_t *restrict energy) {
    const int8_t *restrict r0 = rows[0], *restrict r1 = rows[1], *restrict r2 = rows[2];
    const int8_t *restrict r3 = rows[3], *restrict r4 = rows[4];
    for (int32_t x = 0; x < columns; x++) sums[x + REACH] = r0[x] + r1[x] + r2[x] + r3[x] + r4[x];
    for (int32_t x = 0; x < columns; x++) {
        int8_t sum = sums[x] + sums[x + 1] + sums[x + 2] + sums[x + 3] + sums[x + 4];
        int8_t alike = r2[x] > 0 ? sum : -sum; /* like minus unlike spins, itself included */
        energy[x] = (uint8_t)(sites[x] - alike) >> 1;
    }
}

/* The number of neighbours of opposite spin, for spins (runs, rows, columns). */
void local_energy(int32_t runs, int32_t rows, int32_t columns, const int8_t *spin,
                  uint8_t *energy) {
    int8_t *outside = calloc(columns, 1);
    int8_t *sums = calloc(columns + 2 * REACH, 1);
    int8_t *sites = malloc((2 * REACH + 2) * (size_t)columns); /* by the number of rows in reach */
    for (int32_t n = 0; n < 2 * REACH + 2; n++)
        for (int32_t x = 0; x < columns; x++) sites[n * columns + x] = n * within(x, columns);
    for (int32_t run = 0; run < runs; run++) {
        const int8_t *grid = spin + (size_t)run * rows * columns;
        uint8_t *out = energy + (size_t)run * rows * columns;
        for (int32_t y = 0; y < rows; y++) {
            const int8_t *five[2 * REACH + 1];
            for (int32_t d = -REACH; d <= REACH; d++) {
                int inside = y + d >= 0 && y + d < rows;
                five[d + REACH] = inside ? grid + (size_t)(y + d) * columns : outside;
            }
            row_energy(five, sites + within(y, rows) * columns, columns, sums,
                       out + (size_t)y * columns);
        }
    }
    free(outside);
    free(sums);
    free(sites);
}
