/* The Vicsek model in plain C, the yardstick for swarmdp's kernels.

   The same model and the same amount of work: a counting sort into cells no narrower than the
   radius, agents kept in cell order, the candidates of a row of cells copied once, shifted across
   the periodic boundary of the unit square, one Philox4x32-10 block and one Box-Muller transform
   for each agent and step. The inner loop is written with the vectors of gcc and
   clang, four numbers each; the others so that a compiler can vectorise them. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define LANES 8 /* candidates are padded to a multiple of this many */
#define FAR 1e9 /* coordinate of a padding candidate */
#define COLUMNS 64 /* columns of cells whose candidates are copied at a time */
#define BLOCK 1024 /* agents that are advanced at a time: what lies between stays in the cache */

typedef double Four __attribute__((vector_size(32)));
typedef int64_t FourBits __attribute__((vector_size(32)));

typedef struct {
    double *x, *y, *heading, *u, *v; /* (u, v) is the unit vector of the heading */
    int32_t *id;
} Agents;

typedef struct {
    int32_t agents, columns; /* there are columns x columns cells */
    double radius;
    Agents now, next;       /* now is in cell order during a step */
    int32_t *cell, *start;  /* cell k has the places start[k] up to start[k + 1] */
    Agents near;            /* the candidates of a row of cells, column by column */
    int32_t near_start[COLUMNS + 3];
    double *across, *along; /* mean direction in the frame of the agent's own heading */
} Swarm;

typedef struct {
    double speed, noise;
    uint64_t seed;
    uint32_t run;
} Motion;

static void *allocate(size_t count, size_t size) {
    size_t bytes = (count * size + 127) / 64 * 64;
    return aligned_alloc(64, bytes);
}

static Agents new_agents(int32_t agents) {
    Agents a;
    a.x = allocate(agents, sizeof(double));
    a.y = allocate(agents, sizeof(double));
    a.heading = allocate(agents, sizeof(double));
    a.u = allocate(agents, sizeof(double));
    a.v = allocate(agents, sizeof(double));
    a.id = allocate(agents, sizeof(int32_t));
    return a;
}

static void free_agents(Agents *a) {
    free(a->x);
    free(a->y);
    free(a->heading);
    free(a->u);
    free(a->v);
    free(a->id);
}

static Swarm new_swarm(int32_t agents, double radius) {
    Swarm s;
    s.agents = agents;
    s.radius = radius;
    s.columns = (int32_t)floor(1.0 / radius * (1 - 1e-12));
    s.now = new_agents(agents + LANES);
    s.next = new_agents(agents + LANES);
    s.near = new_agents(2 * agents + LANES); /* the first and the last column come twice */
    s.cell = allocate(agents, sizeof(int32_t));
    s.start = allocate((size_t)s.columns * s.columns + 2, sizeof(int32_t));
    s.across = allocate(agents, sizeof(double));
    s.along = allocate(agents, sizeof(double));
    return s;
}

static void free_swarm(Swarm *s) {
    free_agents(&s->now);
    free_agents(&s->next);
    free_agents(&s->near);
    free(s->cell);
    free(s->start);
    free(s->across);
    free(s->along);
}

/* Counting sort of next into now, by cell. */
static void sort_by_cell(Swarm *s) {
    const Agents *from = &s->next, *to = &s->now;
    const int32_t agents = s->agents, columns = s->columns, cells = columns * columns;
    int32_t *restrict start = s->start, *restrict cell = s->cell;
    const double *restrict x = from->x, *restrict y = from->y;
    for (int32_t i = 0; i < agents; i++) {
        int32_t column = (int32_t)(x[i] * columns), row = (int32_t)(y[i] * columns);
        column = column < columns ? column : columns - 1;
        row = row < columns ? row : columns - 1;
        cell[i] = row * columns + column;
    }
    memset(start, 0, (cells + 2) * sizeof(int32_t));
    for (int32_t i = 0; i < agents; i++) start[cell[i] + 2]++;
    for (int32_t k = 2; k < cells + 2; k++) start[k] += start[k - 1];
    for (int32_t i = 0; i < agents; i++) { /* start[k + 1] is the cursor of cell k */
        int32_t p = start[cell[i] + 1]++;
        to->x[p] = from->x[i];
        to->y[p] = from->y[i];
        to->heading[p] = from->heading[i];
        to->u[p] = from->u[i];
        to->v[p] = from->v[i];
        to->id[p] = from->id[i];
    }
}

static inline Four load_four(const double *from) {
    Four four;
    memcpy(&four, from, sizeof four);
    return four;
}

static inline void store_four(Four four, double *to) { memcpy(to, &four, sizeof four); }

/* Copy the candidates of the columns first..last - 1 of a row, the agents of three rows of cells,
   column by column; near_start[q] is where those of column first - 1 + q begin. Four agents are
   copied at a time, whether they are in the cell or not: the next ones overwrite the others. */
static void merge_rows(Swarm *s, int32_t row, int32_t first, int32_t last) {
    const int32_t columns = s->columns;
    const double *restrict x = s->now.x, *restrict y = s->now.y;
    const double *restrict u = s->now.u, *restrict v = s->now.v;
    double *restrict near_x = s->near.x, *restrict near_y = s->near.y;
    double *restrict near_u = s->near.u, *restrict near_v = s->near.v;
    int32_t n = 0;
    for (int32_t column = first - 1; column <= last; column++) {
        const double shift_x = column < 0 ? -1.0 : column >= columns ? 1.0 : 0.0;
        const int32_t c = column < 0 ? columns - 1 : column >= columns ? 0 : column;
        s->near_start[column - first + 1] = n;
        for (int32_t r = row - 1; r <= row + 1; r++) {
            const double shift_y = r < 0 ? -1.0 : r >= columns ? 1.0 : 0.0;
            const int32_t k = (r < 0 ? columns - 1 : r >= columns ? 0 : r) * columns + c;
            const int32_t begin = s->start[k], end = s->start[k + 1];
            for (int32_t j = begin, p = n; j < end; j += 4, p += 4) {
                store_four(load_four(x + j) + shift_x, near_x + p);
                store_four(load_four(y + j) + shift_y, near_y + p);
                store_four(load_four(u + j), near_u + p);
                store_four(load_four(v + j), near_v + p);
            }
            n += end - begin;
        }
    }
    s->near_start[last - first + 2] = n;
    for (int32_t j = n; j < n + LANES; j++) near_x[j] = FAR;
}

/* Add the directions of those of four candidates that are within the radius. */
static inline void add_within(const double *near_x, const double *near_y, const double *near_u,
                              const double *near_v, double x, double y, double square, Four *u,
                              Four *v) {
    Four dx = load_four(near_x) - x, dy = load_four(near_y) - y;
    FourBits within = dx * dx + dy * dy <= square;
    *u += (Four)((FourBits)load_four(near_u) & within);
    *v += (Four)((FourBits)load_four(near_v) & within);
}

/* Mean directions for the agents of one row of cells. Candidates beyond those of the three columns,
   up to a multiple of LANES, are too far to count. */
static void sum_neighbours(Swarm *s, int32_t row) {
    const double *restrict x = s->now.x, *restrict y = s->now.y;
    const double *restrict u = s->now.u, *restrict v = s->now.v;
    const double square = s->radius * s->radius;
    for (int32_t first = 0; first < s->columns; first += COLUMNS) {
        const int32_t last = first + COLUMNS < s->columns ? first + COLUMNS : s->columns;
        merge_rows(s, row, first, last);
        for (int32_t column = first; column < last; column++) {
            const int32_t k = row * s->columns + column, begin = s->start[k], end = s->start[k + 1];
            if (begin == end) continue;
            const int32_t low = s->near_start[column - first];
            const int32_t blocks = (s->near_start[column - first + 3] - low + LANES - 1) / LANES;
            const double *restrict near_x = s->near.x + low, *restrict near_y = s->near.y + low;
            const double *restrict near_u = s->near.u + low, *restrict near_v = s->near.v + low;
            for (int32_t i = begin; i < end; i++) {
                Four u0 = {0}, u1 = {0}, v0 = {0}, v1 = {0}; /* two sums side by side wait less */
                for (int32_t j = 0; j < blocks * LANES; j += LANES) {
                    add_within(near_x + j, near_y + j, near_u + j, near_v + j, x[i], y[i], square,
                               &u0, &v0);
                    add_within(near_x + j + 4, near_y + j + 4, near_u + j + 4, near_v + j + 4,
                               x[i], y[i], square, &u1, &v1);
                }
                u0 += u1;
                v0 += v1;
                double sum_u = (u0[0] + u0[1]) + (u0[2] + u0[3]);
                double sum_v = (v0[0] + v0[1]) + (v0[2] + v0[3]);
                s->across[i] = u[i] * sum_v - v[i] * sum_u;
                s->along[i] = u[i] * sum_u + v[i] * sum_v;
            }
        }
    }
}

/* 53 of 64 random bits as a number in (0, 1); signed conversions, because these vectorise. */
static inline double unit_uniform(uint32_t high, uint32_t low) {
    double h = (double)(int32_t)high + 2147483648.0, l = (double)(int32_t)low + 2147483648.5;
    return (h + l * (1.0 / 4294967296.0)) * (1.0 / 4294967296.0);
}

/* A standard normal number for each agent: Philox4x32-10 and Box-Muller. */
static void draw_noise(const Motion *m, uint32_t step, const int32_t *restrict id, int32_t size,
                       double *restrict out) {
    uint32_t w0[BLOCK], w1[BLOCK], w2[BLOCK], w3[BLOCK];
    for (int32_t i = 0; i < size; i++) {
        uint64_t c0 = (uint32_t)id[i], c1 = m->run, c2 = step, c3 = 0; /* 32-bit words */
        uint32_t k0 = (uint32_t)m->seed, k1 = (uint32_t)(m->seed >> 32);
        for (int round = 0; round < 10; round++) {
            uint64_t p0 = c0 * 0xD2511F53, p1 = c2 * 0xCD9E8D57;
            c0 = (p1 >> 32) ^ c1 ^ k0;
            c1 = p1 & 0xFFFFFFFF;
            c2 = (p0 >> 32) ^ c3 ^ k1;
            c3 = p0 & 0xFFFFFFFF;
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        w0[i] = (uint32_t)c0;
        w1[i] = (uint32_t)c1;
        w2[i] = (uint32_t)c2;
        w3[i] = (uint32_t)c3;
    }
    for (int32_t i = 0; i < size; i++) {
        double radius = sqrt(-2.0 * log(unit_uniform(w0[i], w1[i])));
        out[i] = radius * cos(2.0 * PI * unit_uniform(w2[i], w3[i]));
    }
}

/* Turn by the misalignment and noise, move along the heading before the turn: now -> next. */
static void advance(Swarm *s, const Motion *m, uint32_t step, int32_t begin, int32_t size) {
    double turn[BLOCK], noise[BLOCK];
    const double speed = m->speed, scale = m->noise;
    const double *restrict x = s->now.x + begin, *restrict y = s->now.y + begin;
    const double *restrict u = s->now.u + begin, *restrict v = s->now.v + begin;
    const double *restrict heading = s->now.heading + begin;
    const double *restrict across = s->across + begin, *restrict along = s->along + begin;
    double *restrict new_x = s->next.x + begin, *restrict new_y = s->next.y + begin;
    double *restrict new_u = s->next.u + begin, *restrict new_v = s->next.v + begin;
    double *restrict new_heading = s->next.heading + begin;
    draw_noise(m, step, s->now.id + begin, size, noise);
    for (int32_t i = 0; i < size; i++) turn[i] = atan2(across[i], along[i]);
    for (int32_t i = 0; i < size; i++) {
        double a = heading[i] + turn[i] + scale * noise[i];
        new_heading[i] = a - 2.0 * PI * floor((a + PI) * (0.5 / PI));
    }
    for (int32_t i = 0; i < size; i++) {
        double px = x[i] + speed * u[i], py = y[i] + speed * v[i];
        new_x[i] = px - floor(px);
        new_y[i] = py - floor(py);
    }
    for (int32_t i = 0; i < size; i++) new_u[i] = cos(new_heading[i]);
    for (int32_t i = 0; i < size; i++) new_v[i] = sin(new_heading[i]);
    memcpy(s->next.id + begin, s->now.id + begin, size * sizeof(int32_t));
}

static double order_parameter(const Agents *a, int32_t agents) {
    double u = 0.0, v = 0.0;
    for (int32_t i = 0; i < agents; i++) {
        u += a->u[i];
        v += a->v[i];
    }
    return sqrt(u * u + v * v) / agents;
}

static void load(Swarm *s, const double *position, const double *heading) {
    for (int32_t i = 0; i < s->agents; i++) {
        s->next.x[i] = position[2 * i];
        s->next.y[i] = position[2 * i + 1];
        s->next.heading[i] = heading[i];
        s->next.u[i] = cos(heading[i]);
        s->next.v[i] = sin(heading[i]);
        s->next.id[i] = i;
    }
}

/* The misalignment of each agent of one swarm: the check that this is the same model. */
void misalignment(int32_t agents, double radius, const double *position, const double *heading,
                  double *out) {
    Swarm s = new_swarm(agents, radius);
    load(&s, position, heading);
    sort_by_cell(&s);
    for (int32_t row = 0; row < s.columns; row++) sum_neighbours(&s, row);
    for (int32_t i = 0; i < agents; i++) out[s.now.id[i]] = atan2(s.across[i], s.along[i]);
    free_swarm(&s);
}

/* The order parameter (runs, steps + 1) of swarms that start from these states. */
void simulate(int32_t runs, int32_t agents, int32_t steps, double radius, double speed,
              double noise, uint64_t seed, const double *position, const double *heading,
              double *order) {
    Swarm s = new_swarm(agents, radius);
    for (int32_t run = 0; run < runs; run++) {
        Motion m = {speed, noise, seed, (uint32_t)run};
        load(&s, position + (size_t)run * agents * 2, heading + (size_t)run * agents);
        for (int32_t step = 0; step < steps; step++) {
            *order++ = order_parameter(&s.next, agents);
            sort_by_cell(&s);
            for (int32_t row = 0, done = 0; row < s.columns; row++) {
                sum_neighbours(&s, row);
                int32_t end = s.start[(row + 1) * s.columns];
                while (end - done >= BLOCK || (row == s.columns - 1 && done < end)) {
                    int32_t size = end - done < BLOCK ? end - done : BLOCK;
                    advance(&s, &m, (uint32_t)step, done, size);
                    done += size;
                }
            }
        }
        *order++ = order_parameter(&s.next, agents);
    }
    free_swarm(&s);
}
