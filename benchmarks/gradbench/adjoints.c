/* Derivatives of some of GradBench's objectives, written by hand: the yardstick of `measure.py`. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t integer;

void llsq(const double *x, integer m, integer n, double *restrict g)
{
    double *power = malloc(sizeof *power * (size_t)m);
    memset(g, 0, sizeof *g * (size_t)m);
    for (integer i = 0; i < n; i++) {
        double t = -1 + i * 2.0 / (n - 1), r = (t > 0) - (t < 0), p = 1;
        for (integer j = 0; j < m; j++) { power[j] = p; r -= x[j] * p; p *= t; }
        for (integer j = 0; j < m; j++) g[j] -= r * power[j];
    }
    free(power);
}

void lse(const double *x, integer n, double *restrict g)
{
    double greatest = x[0], total = 0;
    for (integer i = 1; i < n; i++) greatest = x[i] > greatest ? x[i] : greatest;
    for (integer i = 0; i < n; i++) { g[i] = exp(x[i] - greatest); total += g[i]; }
    for (integer i = 0; i < n; i++) g[i] /= total;
}

static void slope(const double *x, const double *y, integer n, double *restrict z)
{
    z[0] = x[0];
    for (integer i = 1; i < n; i++) z[i] = x[i] * y[i - 1];
}

/* From the cotangent of a slope to those of x and y. */
static void slope_back(const double *x, const double *y, const double *z_bar, integer n,
                       double *restrict x_bar, double *restrict y_bar)
{
    x_bar[0] += z_bar[0];
    for (integer i = 1; i < n; i++) x_bar[i] += z_bar[i] * y[i - 1];
    for (integer i = 1; i < n; i++) y_bar[i - 1] = z_bar[i] * x[i];
    y_bar[n - 1] = 0;
}

void ode(const double *x, integer n, integer steps, double *restrict g)
{
    double h = 2.0 / steps;
    size_t row = sizeof(double) * (size_t)n;
    double *all = malloc((size_t)steps * 4 * row), *k = malloc(4 * row), *bars = malloc(6 * row);
    double *y = calloc((size_t)n, sizeof(double));
    double *k1 = k, *k2 = k + n, *k3 = k + 2 * n, *k4 = k + 3 * n;
    for (integer s = 0; s < steps; s++) {
        double *y1 = all + s * 4 * n, *y2 = y1 + n, *y3 = y2 + n, *y4 = y3 + n;
        memcpy(y1, y, row);
        slope(x, y1, n, k1);
        for (integer i = 0; i < n; i++) y2[i] = y[i] + h / 2 * k1[i];
        slope(x, y2, n, k2);
        for (integer i = 0; i < n; i++) y3[i] = y[i] + h / 2 * k2[i];
        slope(x, y3, n, k3);
        for (integer i = 0; i < n; i++) y4[i] = y[i] + h * k3[i];
        slope(x, y4, n, k4);
        for (integer i = 0; i < n; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    double *y_bar = bars, *k_bar = bars + n, *b4 = bars + 2 * n, *b3 = bars + 3 * n, *b2 = bars + 4 * n;
    double *b1 = bars + 5 * n;
    memset(y_bar, 0, row);
    memset(g, 0, row);
    y_bar[n - 1] = 1;
    for (integer s = steps - 1; s >= 0; s--) {
        double *y1 = all + s * 4 * n, *y2 = y1 + n, *y3 = y2 + n, *y4 = y3 + n;
        for (integer i = 0; i < n; i++) k_bar[i] = h / 6 * y_bar[i];
        slope_back(x, y4, k_bar, n, g, b4);
        for (integer i = 0; i < n; i++) k_bar[i] = h / 3 * y_bar[i] + h * b4[i];
        slope_back(x, y3, k_bar, n, g, b3);
        for (integer i = 0; i < n; i++) k_bar[i] = h / 3 * y_bar[i] + h / 2 * b3[i];
        slope_back(x, y2, k_bar, n, g, b2);
        for (integer i = 0; i < n; i++) k_bar[i] = h / 6 * y_bar[i] + h / 2 * b2[i];
        slope_back(x, y1, k_bar, n, g, b1);
        for (integer i = 0; i < n; i++) y_bar[i] += b1[i] + b2[i] + b3[i] + b4[i];
    }
    free(all); free(k); free(bars); free(y);
}

void kmeans(const double *points, const double *centroids, integer n, integer k, integer d, double *restrict g)
{
    double *count = calloc((size_t)k, sizeof *count);
    memset(g, 0, sizeof *g * (size_t)(k * d));
    for (integer i = 0; i < n; i++) {
        const double *a = points + i * d;
        double least = INFINITY;
        integer nearest = 0;
        for (integer j = 0; j < k; j++) {
            const double *b = centroids + j * d;
            double distance = 0;
            for (integer l = 0; l < d; l++) distance += (a[l] - b[l]) * (a[l] - b[l]);
            if (distance < least) { least = distance; nearest = j; }
        }
        count[nearest] += 2;
        for (integer l = 0; l < d; l++) g[nearest * d + l] += 2 * (centroids[nearest * d + l] - a[l]);
    }
    for (integer j = 0; j < k; j++)
        for (integer l = 0; l < d; l++) g[j * d + l] /= count[j];
    free(count);
}

/* The determinant of what is left of a matrix; adds `bar` times its derivative to g. */
static double minor_of(const double *a, integer size, integer order, integer *rows, integer *columns, double bar,
                       double *restrict g)
{
    integer row = rows[size], column = columns[size], before = size;
    if (order == 1) {
        g[row * size + column] += bar;
        return a[row * size + column];
    }
    double total = 0, sign = 1;
    rows[size] = rows[row];
    for (integer k = 0; k < order; k++) {
        integer place = row * size + column;
        columns[before] = columns[column];
        double minor = minor_of(a, size, order - 1, rows, columns, bar * sign * a[place], g);
        columns[before] = column;
        total += sign * a[place] * minor;
        g[place] += bar * sign * minor;
        sign = -sign;
        before = column;
        column = columns[column];
    }
    rows[size] = row;
    return total;
}

void det(const double *a, integer size, double *restrict g)
{
    integer *rows = malloc(sizeof(integer) * 2 * (size_t)(size + 1)), *columns = rows + size + 1;
    for (integer k = 0; k <= size; k++) rows[k] = columns[k] = k == size ? 0 : k + 1;
    memset(g, 0, sizeof *g * (size_t)(size * size));
    minor_of(a, size, size, rows, columns, 1, g);
    free(rows);
}

/* m = 0, gamma = 1 */
void gmm(const double *alpha, const double *mu, const double *q, const double *l, const double *x, integer n,
         integer d, integer k, double *restrict alpha_bar, double *restrict mu_bar, double *restrict q_bar,
         double *restrict l_bar)
{
    integer below = d * (d - 1) / 2;
    double *scale = malloc(sizeof(double) * (size_t)(k * d)), *sums = calloc((size_t)k, sizeof(double));
    double *centred = malloc(sizeof(double) * (size_t)(k * d)), *product = malloc(sizeof(double) * (size_t)(k * d));
    double *term = malloc(sizeof(double) * (size_t)k), *bar = malloc(sizeof(double) * (size_t)d);
    for (integer c = 0; c < k; c++) {
        alpha_bar[c] = 0;
        for (integer i = 0; i < d; i++) {
            scale[c * d + i] = exp(q[c * d + i]);
            sums[c] += q[c * d + i];
            mu_bar[c * d + i] = 0;
            q_bar[c * d + i] = 0;
        }
        for (integer i = 0; i < below; i++) l_bar[c * below + i] = 0;
    }
    for (integer p = 0; p < n; p++) {
        double greatest = -INFINITY, total = 0;
        for (integer c = 0; c < k; c++) {
            double *e = centred + c * d, *f = product + c * d, square = 0;
            const double *low = l + c * below;
            for (integer i = 0; i < d; i++) { e[i] = x[p * d + i] - mu[c * d + i]; f[i] = scale[c * d + i] * e[i]; }
            for (integer i = 0; i < d; i++)
                for (integer j = i + 1; j < d; j++) f[j] += *low++ * e[i];
            for (integer i = 0; i < d; i++) square += f[i] * f[i];
            term[c] = alpha[c] + sums[c] - 0.5 * square;
            greatest = term[c] > greatest ? term[c] : greatest;
        }
        for (integer c = 0; c < k; c++) { term[c] = exp(term[c] - greatest); total += term[c]; }
        for (integer c = 0; c < k; c++) {
            double w = term[c] / total, *e = centred + c * d, *f = product + c * d;
            const double *low = l + c * below;
            double *low_bar = l_bar + c * below;
            alpha_bar[c] += w;
            for (integer i = 0; i < d; i++) {
                q_bar[c * d + i] += w * (1 - f[i] * e[i] * scale[c * d + i]);
                bar[i] = w * f[i] * scale[c * d + i];
            }
            for (integer i = 0; i < d; i++)
                for (integer j = i + 1; j < d; j++) { bar[i] += w * f[j] * *low++; *low_bar++ -= w * f[j] * e[i]; }
            for (integer i = 0; i < d; i++) mu_bar[c * d + i] += bar[i];
        }
    }
    double greatest = alpha[0], total = 0;
    for (integer c = 1; c < k; c++) greatest = alpha[c] > greatest ? alpha[c] : greatest;
    for (integer c = 0; c < k; c++) total += exp(alpha[c] - greatest);
    for (integer c = 0; c < k; c++) {
        alpha_bar[c] -= n * exp(alpha[c] - greatest) / total;
        for (integer i = 0; i < d; i++) q_bar[c * d + i] -= scale[c * d + i] * scale[c * d + i];
        for (integer i = 0; i < below; i++) l_bar[c * below + i] -= l[c * below + i];
    }
    free(scale); free(sums); free(centred); free(product); free(term); free(bar);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* What is kept of each layer at each step: input, hidden, cell, and the four gates; then tanh of the cell. */
enum { IN, HIDDEN, CELL, FORGET, TAKE, GIVE, CHANGE, NEW, KEPT };

void lstm(const double *main_, const double *extra, const double *start, const double *sequence, integer layers,
          integer b, integer c, double *restrict main_bar, double *restrict extra_bar)
{
    size_t row = sizeof(double) * (size_t)b, states = (size_t)(2 * layers) * row;
    double *kept = malloc((size_t)(c * layers) * KEPT * row), *state = malloc(states), *state_bar = calloc(1, states);
    double *last = malloc((size_t)c * row), *weight = malloc((size_t)c * row), *x = malloc(row);
    double factor = -1.0 / (double)((c - 1) * b);
    memcpy(state, start, states);
    memset(main_bar, 0, (size_t)(8 * layers) * row);
    memset(extra_bar, 0, 3 * row);
    for (integer t = 0; t < c - 1; t++) {
        double total = 2;
        for (integer i = 0; i < b; i++) x[i] = sequence[t * b + i] * extra[i];
        for (integer k = 0; k < layers; k++) {
            double *restrict v = kept + (t * layers + k) * KEPT * b;
            const double *w = main_ + 8 * k * b, *o = w + 4 * b;
            double *h = state + 2 * k * b, *cell = h + b;
            for (integer i = 0; i < b; i++) {
                v[IN * b + i] = x[i]; v[HIDDEN * b + i] = h[i]; v[CELL * b + i] = cell[i];
                v[FORGET * b + i] = sigmoid(x[i] * w[i] + o[i]);
                v[TAKE * b + i] = sigmoid(h[i] * w[b + i] + o[b + i]);
                v[GIVE * b + i] = sigmoid(x[i] * w[2 * b + i] + o[2 * b + i]);
                v[CHANGE * b + i] = tanh(h[i] * w[3 * b + i] + o[3 * b + i]);
                cell[i] = cell[i] * v[FORGET * b + i] + v[TAKE * b + i] * v[CHANGE * b + i];
                v[NEW * b + i] = tanh(cell[i]);
                x[i] = h[i] = v[GIVE * b + i] * v[NEW * b + i];
            }
        }
        for (integer i = 0; i < b; i++) {
            last[t * b + i] = x[i];
            weight[t * b + i] = exp(x[i] * extra[b + i] + extra[2 * b + i]);
            total += weight[t * b + i];
        }
        for (integer i = 0; i < b; i++) weight[t * b + i] /= total;
    }
    for (integer t = c - 2; t >= 0; t--) {
        const double *gold = sequence + (t + 1) * b;
        double sum = 0;
        for (integer i = 0; i < b; i++) sum += gold[i];
        for (integer i = 0; i < b; i++) {
            double y_bar = factor * (gold[i] - sum * weight[t * b + i]);
            extra_bar[2 * b + i] += y_bar;
            extra_bar[b + i] += y_bar * last[t * b + i];
            x[i] = y_bar * extra[b + i];
        }
        for (integer k = layers - 1; k >= 0; k--) {
            const double *restrict v = kept + (t * layers + k) * KEPT * b;
            const double *w = main_ + 8 * k * b;
            double *restrict w_bar = main_bar + 8 * k * b, *restrict o_bar = w_bar + 4 * b;
            double *restrict h_bar = state_bar + 2 * k * b, *restrict cell_bar = h_bar + b;
            for (integer i = 0; i < b; i++) {
                double new = v[NEW * b + i], give = v[GIVE * b + i], take = v[TAKE * b + i];
                double change = v[CHANGE * b + i], keep = v[FORGET * b + i], in = v[IN * b + i], h = v[HIDDEN * b + i];
                double out_bar = x[i] + h_bar[i], all = cell_bar[i] + out_bar * give * (1 - new * new);
                double keep_bar = all * v[CELL * b + i] * keep * (1 - keep), take_bar = all * change * take * (1 - take);
                double give_bar = out_bar * new * give * (1 - give), change_bar = all * take * (1 - change * change);
                w_bar[i] += keep_bar * in; o_bar[i] += keep_bar;
                w_bar[b + i] += take_bar * h; o_bar[b + i] += take_bar;
                w_bar[2 * b + i] += give_bar * in; o_bar[2 * b + i] += give_bar;
                w_bar[3 * b + i] += change_bar * h; o_bar[3 * b + i] += change_bar;
                cell_bar[i] = all * keep;
                h_bar[i] = take_bar * w[b + i] + change_bar * w[3 * b + i];
                x[i] = keep_bar * w[i] + give_bar * w[2 * b + i];
            }
        }
        for (integer i = 0; i < b; i++) extra_bar[i] += x[i] * sequence[t * b + i];
    }
    free(kept); free(state); free(state_bar); free(last); free(weight); free(x);
}
