/* Adjoints written by hand, as a careful person would: the value, and the gradients, into given memory. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void nothing(void) {}

void small(double x, double *restrict out, double *restrict g) { *out = sin(x * x); *g = 2 * x * cos(x * x); }

void sincos(double x, double *restrict out, double *restrict g)
{
    double c = cos(x);
    *out = sin(c);
    *g = -cos(c) * sin(x);
}

void loop(double x, int64_t n, double *restrict out, double *restrict g)
{
    double *rs = malloc(sizeof *rs * (size_t)(n > 0 ? n : 1)), r = 1, s = sin(x), c = cos(x);
    for (int64_t k = 0; k < n; k++) { rs[k] = r; r *= s; }
    double r_bar = 1, x_bar = 0;
    for (int64_t k = n - 1; k >= 0; k--) { x_bar += r_bar * rs[k] * c; r_bar *= s; }
    free(rs);
    *out = r; *g = x_bar;
}

void logsumexp(const double *x, int64_t n, double *restrict out, double *restrict g)
{
    double m = x[0], total = 0;
    for (int64_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
    for (int64_t i = 0; i < n; i++) { g[i] = exp(x[i] - m); total += g[i]; }
    double scale = 1 / total;
    for (int64_t i = 0; i < n; i++) g[i] *= scale;
    *out = m + log(total);
}

void logistic(const double *w, const double *b, const double *x, int64_t m, int64_t n,
              double *restrict out, double *restrict wg, double *restrict bg, double *restrict xg)
{
    double total = 0;
    memset(xg, 0, sizeof *xg * (size_t)n);
    for (int64_t i = 0; i < m; i++) {
        double z = b[i];
        for (int64_t j = 0; j < n; j++) z += w[i * n + j] * x[j];
        double s = 1 / (1 + exp(-z)), d = s * (1 - s);
        total += s;
        bg[i] = d;
        for (int64_t j = 0; j < n; j++) { wg[i * n + j] = d * x[j]; xg[j] += d * w[i * n + j]; }
    }
    *out = total;
}

void mlp(const double *w1, const double *b1, const double *w2, const double *b2, const double *x,
         int64_t label, int64_t h, int64_t n, int64_t c,
         double *restrict out, double *restrict w1g, double *restrict b1g, double *restrict w2g, double *restrict b2g)
{
    double a[64], z[64], m = -INFINITY, total = 0;
    for (int64_t i = 0; i < h; i++) {
        double t = b1[i];
        for (int64_t j = 0; j < n; j++) t += w1[i * n + j] * x[j];
        a[i] = t > 0 ? t : 0;
    }
    for (int64_t i = 0; i < c; i++) {
        double t = b2[i];
        for (int64_t j = 0; j < h; j++) t += w2[i * h + j] * a[j];
        z[i] = t;
        m = t > m ? t : m;
    }
    for (int64_t i = 0; i < c; i++) { b2g[i] = exp(z[i] - m); total += b2g[i]; }
    for (int64_t i = 0; i < c; i++) b2g[i] /= total;
    *out = m + log(total) - z[label];
    b2g[label] -= 1;
    memset(b1g, 0, sizeof *b1g * (size_t)h);
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < h; j++) { w2g[i * h + j] = b2g[i] * a[j]; b1g[j] += b2g[i] * w2[i * h + j]; }
    for (int64_t i = 0; i < h; i++) {
        b1g[i] = a[i] > 0 ? b1g[i] : 0;
        for (int64_t j = 0; j < n; j++) w1g[i * n + j] = b1g[i] * x[j];
    }
}

void newton(double a, double *restrict out, double *restrict g)
{
    double xs[128], x = a, x_bar = 1, a_bar = 0;
    int k = 0;
    while (fabs(x * x - a) > 1e-12 * a) { xs[k++] = x; x = 0.5 * (x + a / x); }
    *out = x;
    while (k--) {
        double h = 0.5 * x_bar, inverse = 1 / xs[k];
        a_bar += h * inverse;
        x_bar = h - h * a * inverse * inverse;
    }
    *g = a_bar + x_bar;
}

void logistic_map(double r, double x, int64_t n, double *restrict out, double *restrict rg, double *restrict xg)
{
    double *xs = malloc(sizeof *xs * (size_t)(n > 0 ? n : 1)), x_bar = 1, r_bar = 0;
    for (int64_t k = 0; k < n; k++) { xs[k] = x; x = r * x * (1 - x); }
    *out = x;
    for (int64_t k = n - 1; k >= 0; k--) {
        r_bar += x_bar * xs[k] * (1 - xs[k]);
        x_bar *= r * (1 - 2 * xs[k]);
    }
    free(xs);
    *rg = r_bar; *xg = x_bar;
}

enum { X, Y, Z, SIGMA, RHO, BETA };

static inline void slopes(const double *restrict s, const double *restrict p, double *restrict k)
{
    k[X] = p[0] * (s[Y] - s[X]);
    k[Y] = s[X] * (p[1] - s[Z]) - s[Y];
    k[Z] = s[X] * s[Y] - p[2] * s[Z];
}

/* adds to s_bar and p_bar what `slopes` passes back */
static inline void slopes_back(const double *restrict s, const double *restrict p, const double *restrict k_bar,
                               double *restrict s_bar, double *restrict p_bar)
{
    p_bar[0] += k_bar[X] * (s[Y] - s[X]);
    p_bar[1] += k_bar[Y] * s[X];
    p_bar[2] -= k_bar[Z] * s[Z];
    s_bar[X] += -p[0] * k_bar[X] + (p[1] - s[Z]) * k_bar[Y] + s[Y] * k_bar[Z];
    s_bar[Y] += p[0] * k_bar[X] - k_bar[Y] + s[X] * k_bar[Z];
    s_bar[Z] -= s[X] * k_bar[Y] + p[2] * k_bar[Z];
}

static inline void stages(const double *restrict s, const double *restrict p, double h,
                          double k[4][3], double at[4][3])
{
    const double c[4] = {0, h / 2, h / 2, h};
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 3; i++) at[j][i] = j ? s[i] + c[j] * k[j - 1][i] : s[i];
        slopes(at[j], p, k[j]);
    }
}

void lorenz(double x, double y, double z, double sigma, double rho, double beta, int64_t n,
            double *restrict out, double *restrict xg, double *restrict yg, double *restrict zg,
            double *restrict sg, double *restrict rg, double *restrict bg)
{
    const double h = 0.00001, w[4] = {h / 6, h / 3, h / 3, h / 6}, c[4] = {0, h / 2, h / 2, h};
    const double p[3] = {sigma, rho, beta};
    double s[3] = {x, y, z}, k[4][3], at[4][3], (*kept)[3] = malloc(sizeof *kept * (size_t)(n > 0 ? n : 1));
    for (int64_t t = 0; t < n; t++) {
        memcpy(kept[t], s, sizeof s);
        stages(s, p, h, k, at);
        for (int i = 0; i < 3; i++) s[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    *out = s[X] + s[Y] + s[Z];
    double s_bar[3] = {1, 1, 1}, p_bar[3] = {0};
    for (int64_t t = n - 1; t >= 0; t--) {
        stages(kept[t], p, h, k, at);
        double total[3], at_bar[3] = {0};
        memcpy(total, s_bar, sizeof total);
        for (int j = 3; j >= 0; j--) {
            double k_bar[3];
            for (int i = 0; i < 3; i++) k_bar[i] = w[j] * s_bar[i] + (j < 3 ? c[j + 1] * at_bar[i] : 0);
            memset(at_bar, 0, sizeof at_bar);
            slopes_back(at[j], p, k_bar, at_bar, p_bar);
            for (int i = 0; i < 3; i++) total[i] += at_bar[i];
        }
        memcpy(s_bar, total, sizeof total);
    }
    free(kept);
    *xg = s_bar[X]; *yg = s_bar[Y]; *zg = s_bar[Z];
    *sg = p_bar[0]; *rg = p_bar[1]; *bg = p_bar[2];
}

void black_scholes(const double *s, const double *k, const double *t, int64_t n,
                   double *restrict out, double *restrict sg, double *restrict kg, double *restrict tg)
{
    const double half = 0.70710678118654752, density = 0.39894228040143268;
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double q = sqrt(t[i]), root = 0.2 * q, d = (log(s[i] / k[i]) + 0.05 * t[i]) / root, e = d - root;
        double p = 0.5 * (1 + erf(d * half)), u = 0.5 * (1 + erf(e * half)), v = exp(-0.03 * t[i]);
        double ds = density * s[i] * exp(-0.5 * d * d), ek = -density * k[i] * v * exp(-0.5 * e * e);
        double both = (ds + ek) / root;
        total += s[i] * p - k[i] * v * u;
        sg[i] = p + both / s[i];
        kg[i] = -v * u - both / k[i];
        tg[i] = 0.03 * k[i] * v * u + both * (0.05 - 0.1 * d / q) - 0.1 * ek / q;
    }
    *out = total;
}

void softplus_of_gelu(const double *x, int64_t n, double *restrict out, double *restrict g)
{
    const double c = 0.7978845608028654;
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        double a = x[i], w = tanh(c * (a + 0.044715 * a * a * a)), y = 0.75 * a * (1 + w) + 0.3;
        double e = exp(-fabs(y));
        total += fmax(y, 0) + log1p(e);
        g[i] = (y > 0 ? 1 : e) / (1 + e) * 0.75 * (1 + w + a * (1 - w * w) * c * (1 + 3 * 0.044715 * a * a));
    }
    *out = total;
}
