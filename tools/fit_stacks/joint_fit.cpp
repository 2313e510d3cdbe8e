// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fit_stacks/joint_fit.h"

#include "core/iteration/placement/stage_source.h"

#include <cmath>
#include <iostream>
#include <map>

namespace fit_stacks {

namespace {

bool isTime(const std::string &metric)
{
    return metric == "iteration_time_s" || metric == "tokens_per_s_per_gpu" || metric == "model_tflops_per_gpu"
        || metric == "mfu";
}

/// The rows of one stack that may be fitted to.
std::vector<RowSet> rowsOf(const std::string &stack, const std::vector<RowSet> &all)
{
    std::vector<RowSet> sets;
    for (const RowSet &set : all) {
        RowSet kept = set;
        std::erase_if(kept.rows, [&](const ValidationRow &row) {
            return row.role != RowRole::Fit || row.plan->stack.name != stack || !stageFacts(*row.plan).hasLayers
                || std::none_of(row.published.begin(), row.published.end(),
                    [](const PublishedFigure &f) { return isTime(f.metric); });
        });
        for (ValidationRow &row : kept.rows) { // one figure of time a row
            std::erase_if(row.published, [](const PublishedFigure &f) { return !isTime(f.metric); });
            row.published.resize(1);
        }
        if (!kept.rows.empty())
            sets.push_back(std::move(kept));
    }
    return sets;
}

/// Of the time: a rate that is too high is a time that is too low.
double error(const ValidationResult &result)
{
    if (!result.predicted || *result.predicted <= 0)
        return 1;
    const double ratio = *result.predicted / result.published;
    return (result.metric == "iteration_time_s" ? ratio : 1 / ratio) - 1;
}

/// Of each row, how many of the set have its plan but for the release: together they are one piece of evidence.
std::vector<double> repeatsOf(const RowSet &set)
{
    std::vector<Plan> plans;
    for (const ValidationRow &row : set.rows) {
        plans.push_back(*row.plan);
        plans.back().stack.release.clear();
        plans.back().name.clear();
        plans.back().notes.clear();
    }
    if (plans.size() > 100) // a sweep: its plans differ
        return std::vector<double>(plans.size(), 1);
    std::vector<double> repeats;
    for (const Plan &plan : plans)
        repeats.push_back(double(std::count(plans.begin(), plans.end(), plan)));
    return repeats;
}

} // namespace

std::string rounded(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

JointFit::JointFit(Catalogue catalogue, const std::vector<RowSet> &rows)
    : m_catalogue(std::move(catalogue))
{
    for (const auto &[stack, keys] : kFitted) {
        Block block { stack, rowsOf(stack, rows), {}, m_rows };
        if (block.sets.empty())
            continue;
        for (const RowSet &set : block.sets) {
            const std::vector<double> repeats = repeatsOf(set);
            double plans = 0;
            for (const double count : repeats)
                plans += 1 / count;
            for (std::size_t i = 0; i < set.rows.size(); ++i)
                block.weights.push_back(
                    (set.rows[i].status == RowStatus::Gated ? 1.0 : 0.5) / std::sqrt(plans * repeats[i]));
        }
        m_rows += Eigen::Index(block.weights.size());
        for (const std::string &key : keys) {
            const Parameter &p = byKey(kParameters, key);
            m_unknowns.push_back({ stack, key, p.prior, p.width, p.lowest, p.highest, false });
        }
        m_blocks.push_back(std::move(block));
    }
    for (const auto &[architecture, keys] : kFittedRates) {
        const auto runs = [&](const Block &block) { return block.runsOn(architecture, m_catalogue); };
        if (std::none_of(m_blocks.begin(), m_blocks.end(), runs))
            continue;
        const Clock clock;
        m_unknowns.push_back({ architecture, clock.key, clock.prior, clock.width, clock.lowest, clock.highest, true });
        for (const std::string &key : keys) {
            const Rate &rate = byKey(kRates, key);
            const bool isUnmeasured = key == "grouped" && architecture.starts_with("Blackwell");
            m_unknowns.push_back({ architecture, key, rate.prior, isUnmeasured ? kUnmeasuredGrouped : rate.width,
                rate.lowest, rate.highest, true });
        }
    }
}

void JointFit::run(bool isVerbose)
{
    const auto n = Eigen::Index(m_unknowns.size());
    Eigen::VectorXd x(n);
    for (Eigen::Index i = 0; i < n; ++i)
        x[i] = unknown(i).prior; // not from the last fit: the result must not depend on it
    Eigen::VectorXd r = residuals(x);
    double damping = 1e-2, loss = cost(r);
    for (int round = 0; round < 40; ++round) {
        const Eigen::MatrixXd jacobian = derivatives(x, r);
        const Eigen::VectorXd w = huberWeights(r);
        Eigen::MatrixXd normal = jacobian.transpose() * w.asDiagonal() * jacobian;
        Eigen::VectorXd gradient = jacobian.transpose() * w.asDiagonal() * r;
        holdAtBounds(x, normal, gradient);
        bool isBetter = false;
        double gain = 0;
        for (int attempt = 0; attempt < 9 && !isBetter; ++attempt) {
            Eigen::MatrixXd damped = normal;
            damped.diagonal() += damping * normal.diagonal();
            Eigen::VectorXd next = x - damped.ldlt().solve(gradient);
            for (Eigen::Index i = 0; i < n; ++i)
                next[i] = std::clamp(next[i], unknown(i).lowest, unknown(i).highest);
            const Eigen::VectorXd r2 = residuals(next);
            if (cost(r2) < loss) {
                gain = loss - cost(r2);
                x = next;
                r = r2;
                loss = cost(r2);
                damping = std::max(1e-6, damping / 5);
                isBetter = true;
            } else {
                damping *= 6;
            }
        }
        if (isVerbose)
            std::cerr << "round " << round << " loss " << loss << '\n';
        if (!isBetter || gain < 1e-5 * loss)
            break;
    }
    set(x);
}

OrderedJson JointFit::residualsOf(const std::string &stack, bool isVerbose) const
{
    OrderedJson fit = OrderedJson::object();
    for (const Block &block : m_blocks) {
        if (block.stack != stack)
            continue;
        std::map<std::string, std::vector<double>> bySource;
        for (const ValidationResult &result : runRows(block.sets, m_catalogue).results) {
            bySource[result.source].push_back(std::abs(error(result)));
            if (isVerbose)
                std::cerr << "  " << result.source << " " << result.id << " "
                          << std::lround(error(result) * 1000) / 10.0 << " % " << result.problem << '\n';
        }
        for (auto &[source, errors] : bySource) {
            double sum = 0;
            for (double e : errors)
                sum += e;
            std::sort(errors.begin(), errors.end());
            fit[source] = { { "rows", errors.size() },
                { "mean_abs_error", std::stod(rounded(sum / double(errors.size()))) },
                { "median_abs_error", std::stod(rounded(errors[errors.size() / 2])) } };
        }
    }
    return fit;
}

StackSpec &JointFit::stack(const std::string &id)
{
    return *std::find_if(
        m_catalogue.stacks.begin(), m_catalogue.stacks.end(), [&](const StackSpec &s) { return s.id == id; });
}

void JointFit::set(const Eigen::VectorXd &x)
{
    for (std::size_t i = 0; i < m_unknowns.size(); ++i) {
        const Unknown &u = m_unknowns[i];
        if (!u.isRate)
            stack(u.owner).*byKey(kParameters, u.key).field = x[Eigen::Index(i)];
    }
    for (const Inherited &same : kInherited) {
        const auto field = byKey(kParameters, same.key).field;
        stack(same.stack).*field = stack(same.relative).*field;
    }
    setRates(x);
}

std::optional<double> JointFit::valueOf(
    const Eigen::VectorXd &x, const std::string &architecture, const std::string &key) const
{
    for (std::size_t i = 0; i < m_unknowns.size(); ++i)
        if (const Unknown &u = m_unknowns[i]; u.isRate && u.owner == architecture && u.key == key)
            return x[Eigen::Index(i)];
    return {};
}

void JointFit::setRates(const Eigen::VectorXd &x)
{
    const auto meanOf = [&](const std::string &key, double otherwise) {
        double sum = 0, count = 0;
        for (const ArchitectureRates &known : m_catalogue.sustained)
            if (const auto value = valueOf(x, known.architecture, key))
                sum += *value, ++count;
        return count > 0 ? sum / count : otherwise;
    };
    for (ArchitectureRates &known : m_catalogue.sustained) {
        if (kOlder.contains(known.architecture))
            continue;
        const double clock = valueOf(x, known.architecture, Clock {}.key).value_or(meanOf(Clock {}.key, 1));
        for (const Rate &rate : kRates) {
            const double other = rate.field == &SustainedRates::host ? 1 : meanOf(rate.key, 1);
            const double own = valueOf(x, known.architecture, rate.key).value_or(other);
            known.rates.*rate.field =
                std::clamp(own * (rate.goesWithClock ? clock : 1), 0.2, rate.goesWithClock ? 1.0 : 5.0);
        }
    }
    const auto ampere = std::find_if(m_catalogue.sustained.begin(), m_catalogue.sustained.end(),
        [](const ArchitectureRates &r) { return r.architecture == "Ampere"; });
    for (ArchitectureRates &known : m_catalogue.sustained)
        if (kOlder.contains(known.architecture) && ampere != m_catalogue.sustained.end())
            known.rates = ampere->rates;
}

void JointFit::holdAtBounds(const Eigen::VectorXd &x, Eigen::MatrixXd &normal, Eigen::VectorXd &gradient) const
{
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        const bool isHeld =
            (x[i] <= unknown(i).lowest && gradient[i] > 0) || (x[i] >= unknown(i).highest && gradient[i] < 0);
        if (!isHeld)
            continue;
        normal.row(i).setZero();
        normal.col(i).setZero();
        normal(i, i) = 1;
        gradient[i] = 0;
    }
}

void JointFit::fill(const Block &block, Eigen::VectorXd &r) const
{
    const ValidationRun run = runRows(block.sets, m_catalogue);
    for (std::size_t i = 0; i < run.results.size(); ++i)
        r[block.first + Eigen::Index(i)] = block.weights[i] * std::log1p(error(run.results[i])) / kSpread;
}

void JointFit::fillPriors(const Eigen::VectorXd &x, Eigen::VectorXd &r) const
{
    constexpr double kPriorWeight = 0.15;
    for (Eigen::Index i = 0; i < x.size(); ++i)
        r[m_rows + i] = kPriorWeight * (x[i] - unknown(i).prior) / unknown(i).width;
}

Eigen::VectorXd JointFit::residuals(const Eigen::VectorXd &x)
{
    set(x);
    Eigen::VectorXd r(m_rows + x.size());
    for (const Block &block : m_blocks)
        fill(block, r);
    fillPriors(x, r);
    return r;
}

bool JointFit::moves(const Unknown &u, const Block &block) const
{
    return u.isRate ? block.runsOn(u.owner, m_catalogue) : block.stack == u.owner;
}

Eigen::MatrixXd JointFit::derivatives(const Eigen::VectorXd &x, const Eigen::VectorXd &r)
{
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(r.size(), x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        const Unknown &u = unknown(i);
        Eigen::VectorXd moved = x, next = r;
        const double step = u.width * (x[i] + 0.02 * u.width > u.highest ? -0.02 : 0.02);
        moved[i] += step;
        set(moved);
        for (const Block &block : m_blocks)
            if (moves(u, block))
                fill(block, next);
        fillPriors(moved, next);
        jacobian.col(i) = (next - r) / step;
    }
    return jacobian;
}

double JointFit::limitOf(Eigen::Index i) const
{
    for (const Block &block : m_blocks)
        if (i >= block.first && i < block.first + Eigen::Index(block.weights.size()))
            return 1.5 * block.weights[std::size_t(i - block.first)];
    return 1e9;
}

Eigen::VectorXd JointFit::huberWeights(const Eigen::VectorXd &r) const
{
    Eigen::VectorXd w(r.size());
    for (Eigen::Index i = 0; i < r.size(); ++i)
        w[i] = std::min(1.0, limitOf(i) / std::max(1e-12, std::abs(r[i])));
    return w;
}

double JointFit::cost(const Eigen::VectorXd &r) const
{
    double sum = 0;
    for (Eigen::Index i = 0; i < r.size(); ++i) {
        const double limit = limitOf(i), a = std::abs(r[i]);
        sum += a <= limit ? a * a / 2 : limit * (a - limit / 2);
    }
    return sum;
}

} // namespace fit_stacks
