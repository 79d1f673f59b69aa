/* series.hpp: the functions of a strategy; those that look back keep their state over the bars.
 *
 * Nothing here prints but print and note, which a strategy asks for, and neither flushes.
 */
#ifndef TOUCHSTONE_SERIES_HPP
#define TOUCHSTONE_SERIES_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <iostream>
#include <limits>
#include <utility>

namespace touchstone {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

inline bool known(double value) { return !std::isnan(value); }
inline double abs(double value) { return std::fabs(value); }
inline double floor(double value) { return std::floor(value); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

inline void print(double value) { std::cout << value; }
inline void print(bool value) { std::cout << (value ? "true" : "false"); }
inline void print(const char *value) { std::cout << value; }
inline void note(double value) { std::printf("%g", value); }
inline void note(bool value) { std::printf("%s", value ? "true" : "false"); }
inline void note(const char *value) { std::printf("%s", value); }

/* A window of the last values; not known before it is full, nor while one of them is not. */
struct window {
	std::deque<double> values;

	bool add(double value, double length)
	{
		values.push_back(value);
		while (static_cast<double>(values.size()) > length)
			values.pop_front();
		return static_cast<double>(values.size()) == length && std::all_of(values.begin(), values.end(), known);
	}
};

struct sma : window {
	double next(double value, double length)
	{
		double sum = 0;

		if (!add(value, length))
			return nothing;
		for (double each : values)
			sum += each;
		return sum / length;
	}
};

struct highest : window {
	double next(double value, double length)
	{
		return add(value, length) ? *std::max_element(values.begin(), values.end()) : nothing;
	}
};

struct lowest : window {
	double next(double value, double length)
	{
		return add(value, length) ? *std::min_element(values.begin(), values.end()) : nothing;
	}
};

/* Starts with the first value that is known. */
struct ema {
	double last = nothing;

	double next(double value, double length)
	{
		last = known(last) && known(value) ? last + (value - last) * 2 / (length + 1) : known(value) ? value : last;
		return last;
	}
};

struct previous {
	double last = nothing;

	double next(double value) { return std::exchange(last, value); }
};

/* a was not above b, and is now. */
struct crossover {
	bool was_above = true;

	bool next(double a, double b)
	{
		bool above = !known(a) || !known(b) || a > b;
		return !std::exchange(was_above, above) && above && known(a) && known(b);
	}
};

struct crossunder : crossover {
	bool next(double a, double b) { return crossover::next(b, a); }
};

} // namespace touchstone

#endif
