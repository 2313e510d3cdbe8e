// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/level_watch.h"

#include "core/base/median.h"

#include <algorithm>
#include <cmath>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostLevelPoints = 160, kMostWindow = 24, kLeastBefore = 4;
constexpr std::size_t kSettled = 32; // values at a lower level after which that one is the usual one
constexpr double kErrorsToEnd = 3.5; // taking back asks for less certainty than telling
constexpr double kMostlyBeyond = 0.8;
constexpr std::size_t kLeastForError = 16; // values whose spread tells the error of their median
constexpr std::size_t kLeastFar = 5, kLeastBeforeFar = 5;
constexpr std::size_t kManyBefore = 8;
constexpr double kFarOff = 3, kFartherOff = 6; // times as far as the farthest value before, of many and of few

double spreadOf(const std::vector<double> &values, double middle)
{
    return 1.4826 * medianDistance(values, middle);
}

} // namespace

double chanceOfHits(int before, int hitsBefore, int window, int hits)
{
    const auto logChoose = [](int n, int k) {
        return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
    };
    const int all = hitsBefore + hits;
    double sum = 0;
    for (int k = hits; k <= std::min(window, all); ++k)
        if (all - k <= before)
            sum += std::exp(logChoose(window, k) + logChoose(before, all - k) - logChoose(window + before, all));
    return std::min(sum, 1.0);
}

double LevelWatch::level() const
{
    std::vector<double> values;
    for (std::size_t i = m_points.size() - std::min(m_points.size(), kMostWindow); i < m_points.size(); ++i)
        values.push_back(m_points[i].value);
    return medianOf(std::move(values));
}

bool LevelWatch::isBeyond(double limit, double sign, int leastPoints) const
{
    if (points() < std::max(leastPoints, m_rules.leastSteps))
        return false;
    std::vector<double> values;
    std::size_t beyond = 0;
    for (std::size_t i = m_points.size() - std::min(m_points.size(), kMostWindow); i < m_points.size(); ++i) {
        const LevelPoint &point = m_points[i];
        values.push_back(point.value);
        beyond += sign * (point.value - limit) > 0 ? 1 : 0;
    }
    const double middle = medianOf(values), least = std::ranges::min(values), most = std::ranges::max(values);
    const double nearest = sign > 0 ? least - limit : limit - most;
    if (nearest > most - least) // further away than they are from each other
        return true;
    const double error = kMedianError * medianDistance(values, middle) / std::sqrt(double(values.size()));
    return values.size() >= kLeastForError && double(beyond) >= kMostlyBeyond * double(values.size())
        && sign * (middle - limit) > m_rules.errors * error;
}

const LevelPoint &LevelWatch::firstBeyond(double limit, double sign) const
{
    std::size_t first = m_points.size() - 1;
    double beyond = 0;
    for (std::size_t i = m_points.size(); i-- > 0;) {
        beyond += sign * (m_points[i].value - limit) > 0 ? 1 : 0;
        if (sign * (m_points[i].value - limit) > 0 && beyond >= kMostlyBeyond * double(m_points.size() - i))
            first = i;
    }
    return m_points[first];
}

void LevelWatch::raise(double base)
{
    m_isRaised = true;
    m_base = base;
}

std::optional<LevelWatch::Found> LevelWatch::find(double sign, double least, double errors) const
{
    const std::size_t size = m_points.size();
    const auto leastWindow = static_cast<std::size_t>(std::max(1, m_rules.leastSteps));
    if (size < leastWindow + kLeastBefore)
        return std::nullopt;
    std::vector<double> all;
    for (const LevelPoint &point : m_points)
        all.push_back(point.value);
    // Most values end here: the latest are no further away than half of what could be told.
    const double usual = medianOf(all);
    const double early =
        medianOf(std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size / 2)));
    const double late = medianOf(std::vector<double>(all.end() - static_cast<std::ptrdiff_t>(leastWindow), all.end()));
    const double told = std::max(least, errors * spreadOf(all, usual) / 5);
    if (std::max(sign * (late - usual), sign * (late - early)) < told / 2)
        return std::nullopt;
    const double chance = std::erfc(errors / std::sqrt(2.0)) / 2;
    for (std::size_t m = leastWindow; m <= std::min(kMostWindow, size - kLeastBefore); ++m) {
        const std::vector<double> window(all.end() - static_cast<std::ptrdiff_t>(m), all.end());
        const double after = medianOf(window);
        if (sign * (after - usual) < 0)
            continue;
        const std::vector<double> before(all.begin(), all.end() - static_cast<std::ptrdiff_t>(m));
        const double base = medianOf(before), shift = sign * (after - base);
        const auto n = static_cast<double>(before.size());
        const double error = 1.2533 * spreadOf(before, base) * std::sqrt(1 / double(m) + 1 / n);
        if (shift < least || shift < errors * error)
            continue;
        const double middle = base + sign * shift / 2;
        const auto isBeyond = [&](double value) { return sign * (value - middle) > 0; };
        const auto hits = static_cast<int>(std::ranges::count_if(window, isBeyond));
        const auto often = static_cast<int>(std::ranges::count_if(before, isBeyond));
        const auto away = [&](double value) { return sign * (value - base); };
        double farthest = 0;
        for (const double value : before)
            farthest = std::max(farthest, std::abs(away(value)));
        const bool isFarOff = m >= kLeastFar && before.size() >= kLeastBeforeFar
            && away(*std::ranges::min_element(window, {}, away))
                > (before.size() < kManyBefore ? kFartherOff : kFarOff) * farthest;
        if (!isFarOff && chanceOfHits(static_cast<int>(before.size()), often, static_cast<int>(m), hits) >= chance)
            continue;
        Found found { 0, base, after };
        double cost = 0, least1 = 0; // of the first so many at the level before, the others at that after
        for (std::size_t j = 0; j < size - leastWindow; ++j) {
            cost += std::abs(all[j] - base) - std::abs(all[j] - after);
            if (cost < least1) {
                least1 = cost;
                found.first = j + 1;
            }
        }
        return found;
    }
    return std::nullopt;
}

LevelChange LevelWatch::keepFrom(const Found &found)
{
    LevelChange change { .first = m_points[found.first], .before = found.before, .after = found.after };
    m_points.erase(m_points.begin(), m_points.begin() + static_cast<std::ptrdiff_t>(found.first));
    return change;
}

std::optional<LevelChange> LevelWatch::add(const LevelPoint &point, double least)
{
    if (!std::isfinite(point.value))
        return std::nullopt;
    m_points.push_back(point);
    if (m_points.size() > kMostLevelPoints)
        m_points.erase(m_points.begin());
    if (m_usual && m_points.size() > kSettled)
        m_usual.reset();
    if (const auto rose = find(1, least, m_rules.errors)) {
        LevelChange change = keepFrom(*rose);
        if (m_isRaised) {
            change.kind = LevelChange::Kind::Moved;
            change.before = m_base;
            return change;
        }
        if (m_usual && change.after < *m_usual + least) { // it had fallen for a while, and is back
            m_usual.reset();
            return std::nullopt;
        }
        m_usual.reset();
        raise(change.before);
        return change;
    }
    const auto fell = find(-1, least / 2, m_isRaised ? std::min(m_rules.errors, kErrorsToEnd) : m_rules.errors);
    if (!fell && m_isRaised && m_points.size() >= kLeastForError && level() - m_base < least / 2) {
        m_isRaised = false; // it was never up, or came down too slowly to be seen
        return LevelChange { LevelChange::Kind::Over, m_points.back(), m_base, level() };
    }
    if (!fell)
        return std::nullopt;
    LevelChange change = keepFrom(*fell);
    if (!m_isRaised) {
        m_usual = std::max(m_usual.value_or(change.before), change.before);
        return std::nullopt;
    }
    const double left = change.after - m_base;
    change.kind =
        left < std::max(least, (change.before - m_base) / 2) ? LevelChange::Kind::Over : LevelChange::Kind::Moved;
    change.before = m_base;
    m_isRaised = change.kind != LevelChange::Kind::Over;
    return change;
}

} // namespace trainyard::watch
