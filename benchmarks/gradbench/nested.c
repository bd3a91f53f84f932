/* GradBench's two programs with derivatives inside, both levels by hand: the yardstick of `measure.py`. */
#include <math.h>
#include <string.h>

/* What is minimised: its value, and its gradient. */
typedef struct {
    int size;
    double (*value)(const double *x, const void *given);
    void (*gradient)(const double *x, const void *given, double *slope);
    const void *given;
} objective;

static double length(const double *x, int size)
{
    double square = 0;
    for (int i = 0; i < size; i++) square += x[i] * x[i];
    return sqrt(square);
}

/* Gradient descent that chooses its own step; from x to the place of the minimum. */
static void descend(objective f, double *x)
{
    double slope[2], step[2], candidate[2], value = f.value(x, f.given), rate = 1e-5;
    int successes = 0;
    f.gradient(x, f.given, slope);
    while (length(slope, f.size) > 1e-5) {
        if (successes == 10) {
            rate *= 2;
            successes = 0;
            continue;
        }
        for (int i = 0; i < f.size; i++) {
            candidate[i] = x[i] - rate * slope[i];
            step[i] = x[i] - candidate[i];
        }
        if (length(step, f.size) <= 1e-5) return;
        double found = f.value(candidate, f.given);
        if (found < value) {
            memcpy(x, candidate, sizeof(double) * (size_t)f.size);
            value = found;
            f.gradient(x, f.given, slope);
            successes++;
        } else {
            rate /= 2;
            successes = 0;
        }
    }
}

/* --- particle --------------------------------------------------------------------------- */

/* Adds the gradient of one over the distance from a charge; and its change as x, y and the charge move. */
static void attract(double x, double y, double x_dot, double y_dot, double *du, double *dv, double *du_dot, double *dv_dot)
{
    double square = x * x + y * y, cube = 1 / (square * sqrt(square)), along = 3 * (x * x_dot + y * y_dot) / square;
    *du -= x * cube;
    *dv -= y * cube;
    *du_dot -= (x_dot - along * x) * cube;
    *dv_dot -= (y_dot - along * y) * cube;
}

/* The square of where the path crosses the axis, and its derivative by the place of a charge. */
static double crossing(double w, double *derivative)
{
    double step = 0.1, x = 0, y = 8, u = 0.75, v = 0, x_dot = 0, y_dot = 0, u_dot = 0, v_dot = 0;
    while (y + step * v > 0) {
        double du = 0, dv = 0, du_dot = 0, dv_dot = 0;
        attract(x - 10, y - (10 - w), x_dot, y_dot + 1, &du, &dv, &du_dot, &dv_dot);
        attract(x - 10, y, x_dot, y_dot, &du, &dv, &du_dot, &dv_dot);
        x += step * u; y += step * v; u -= step * du; v -= step * dv;
        x_dot += step * u_dot; y_dot += step * v_dot; u_dot -= step * du_dot; v_dot -= step * dv_dot;
    }
    double wait = y / v, wait_dot = (y_dot - wait * v_dot) / v, at_axis = x - wait * u;
    *derivative = 2 * at_axis * (x_dot - wait_dot * u - wait * u_dot);
    return at_axis * at_axis;
}

static double crossing_alone(const double *w, const void *given)
{
    double unused;
    (void)given;
    return crossing(*w, &unused);
}

static void crossing_slope(const double *w, const void *given, double *slope)
{
    (void)given;
    crossing(*w, slope);
}

void particle(const double *w, double *restrict found)
{
    *found = *w;
    descend((objective){1, crossing_alone, crossing_slope, 0}, found);
}

/* --- saddle ----------------------------------------------------------------------------- */

static double height(const double *x, const double *y)
{
    return x[0] * x[0] + x[1] * x[1] - (y[0] * y[0] + y[1] * y[1]);
}

static double depth(const double *y, const void *x) { return -height(x, y); }

static void depth_slope(const double *y, const void *x, double *slope)
{
    (void)x;
    for (int i = 0; i < 2; i++) slope[i] = 2 * y[i];
}

static void highest(const double *x, const double *start, double *y)
{
    memcpy(y, start, 2 * sizeof *y);
    descend((objective){2, depth, depth_slope, x}, y);
}

static double ridge(const double *x, const void *start)
{
    double y[2];
    highest(x, start, y);
    return height(x, y);
}

/* Where the maximum is does not depend on x: no step towards it does. */
static void ridge_slope(const double *x, const void *start, double *slope)
{
    (void)start;
    for (int i = 0; i < 2; i++) slope[i] = 2 * x[i];
}

void saddle(const double *start, double *restrict found)
{
    memcpy(found, start, 2 * sizeof *found);
    descend((objective){2, ridge, ridge_slope, start}, found);
    highest(found, start, found + 2);
}
