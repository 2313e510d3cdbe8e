// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the time habits of software stacks, and the rates that GPUs sustain within a training step, to published training runs:
// the rows of resources/validation whose role is "fit". All stacks at once, because a GPU's rate is every stack's: robust least
// squares on the log of predicted over published time (Levenberg-Marquardt, Huber weights), every source of a stack with equal
// weight, each parameter drawn to a prior as wide as our ignorance. Writes stack_times.json with residuals, and sustained.json
// beside it.
//
//   fit-stacks OUT/stack_times.json [--rows FILE]... [--verbose]

#include "core/catalogue/catalogue.h"
#include "core/catalogue/parse.h"
#include "core/validation/run.h"

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

using namespace trainyard;
using OrderedJson = nlohmann::ordered_json;

namespace {

struct Parameter {
    const char *key;
    double StackSpec::*field;
    double prior, width;           // width of the prior, in the parameter's own unit
    double lowest, highest;
};

// Priors that all stacks share, where each fit starts. Of a stack's efficiency little is left beside the GPU's sustained rate. A fused
// cast still writes one byte of three; a fused minimum of element-wise passes is 1 by definition.
const std::vector<Parameter> kParameters{
    {"host_us_per_kernel", &StackSpec::hostUsPerKernel, 10, 8, 1, 60},
    {"kernel_efficiency", &StackSpec::kernelEfficiency, 0.98, 0.04, 0.6, 1.1},
    {"narrow_efficiency", &StackSpec::narrowEfficiency, 0.95, 0.05, 0.5, 1.3},
    {"elementwise_passes", &StackSpec::elementwisePasses, 1.3, 0.5, 1, 6},
    {"eager_passes", &StackSpec::eagerPasses, 2.5, 1, 0.8, 10},
    {"accumulation_bytes", &StackSpec::accumulationBytes, 8, 2, 2, 16},
    {"cast_passes", &StackSpec::castPasses, 1, 0.5, 0.33, 6},
    {"rowwise_cast_passes", &StackSpec::rowwiseCastPasses, 2, 1, 0, 10},
    {"tensor_overlap", &StackSpec::tensorOverlap, 0.3, 0.3, 0, 0.95},
    {"async_tensor_overlap", &StackSpec::asyncTensorOverlap, 0.6, 0.2, 0, 0.98},
    {"pipeline_overlap", &StackSpec::pipelineOverlap, 0.5, 0.4, 0, 1},
    {"gradient_overlap", &StackSpec::gradientOverlap, 0.7, 0.3, 0, 1},
    {"parameter_overlap", &StackSpec::parameterOverlap, 0.8, 0.2, 0, 1},
    {"overlap_slowdown", &StackSpec::overlapSlowdown, 0.1, 0.1, 0, 0.6},
    {"expert_overhead_us", &StackSpec::expertOverheadUs, 200, 200, 0, 5000},
    {"micro_batch_overhead_us", &StackSpec::microBatchOverheadUs, 300, 400, 0, 20000},
    {"iteration_overhead_ms", &StackSpec::iterationOverheadMs, 20, 10, 0, 300},
};

/// What a stack cannot do stays 0: it is not fitted. Relatives first.
const std::vector<std::pair<std::string, std::vector<std::string>>> kFitted{
    {"fsdp", {"host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "eager_passes", "cast_passes", "rowwise_cast_passes", "async_tensor_overlap", "overlap_slowdown", "gradient_overlap", "parameter_overlap", "iteration_overhead_ms"}},
    {"megatron-core", {"host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "cast_passes", "tensor_overlap", "pipeline_overlap", "gradient_overlap", "parameter_overlap", "overlap_slowdown", "expert_overhead_us", "iteration_overhead_ms"}},
    {"megatron-lm-2021", {"host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
    {"megatron-lm-2022", {"host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
    {"megatron-deepspeed", {"host_us_per_kernel", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
};

struct Inherited { const char *stack, *key, *relative; };

/// Taken from a relative that has been fitted: Megatron-DeepSpeed runs the kernels of the Megatron-LM of 2021; what is not
/// compiled costs the same in every framework of PyTorch.
const std::vector<Inherited> kInherited{
    {"megatron-lm-2021", "eager_passes", "fsdp"}, {"megatron-lm-2021", "narrow_efficiency", "megatron-core"},
    {"megatron-lm-2022", "eager_passes", "fsdp"}, {"megatron-lm-2022", "narrow_efficiency", "megatron-core"},
    {"megatron-core", "eager_passes", "fsdp"}, {"megatron-core", "rowwise_cast_passes", "fsdp"}, {"megatron-core", "async_tensor_overlap", "fsdp"},
    {"megatron-deepspeed", "kernel_efficiency", "megatron-lm-2021"}, {"megatron-deepspeed", "narrow_efficiency", "megatron-core"},
    {"megatron-deepspeed", "eager_passes", "fsdp"},
    {"deepspeed", "kernel_efficiency", "megatron-lm-2021"}, {"deepspeed", "narrow_efficiency", "megatron-core"},
    {"deepspeed", "host_us_per_kernel", "megatron-deepspeed"}, {"deepspeed", "elementwise_passes", "megatron-deepspeed"},
    {"deepspeed", "accumulation_bytes", "megatron-deepspeed"}, {"deepspeed", "micro_batch_overhead_us", "megatron-deepspeed"},
    {"deepspeed", "iteration_overhead_ms", "megatron-deepspeed"}, {"deepspeed", "eager_passes", "fsdp"}, {"deepspeed", "overlap_slowdown", "fsdp"},
};

/// A rate is the clock that an architecture sustains times what a kind of kernel deviates from it.
struct Rate { const char *key; double SustainedRates::*field; bool goesWithClock; double prior, width, lowest, highest; };
const std::vector<Rate> kRates{
    {"half", &SustainedRates::half, true, 1, 0.04, 0.7, 1.3},           {"eight", &SustainedRates::eight, true, 1, 0.04, 0.7, 1.3},
    {"four", &SustainedRates::four, true, 1, 0.04, 0.7, 1.3},           {"attention", &SustainedRates::attention, true, 1, 0.06, 0.6, 1.3},
    {"grouped", &SustainedRates::grouped, false, 0.9, 0.15, 0.3, 1.3},  {"host", &SustainedRates::host, false, 1, 0.2, 0.4, 2.5},
};
/// Kernels of expert products were measured on no Blackwell: the dense ones stand in, so that less is known of them.
constexpr double kUnmeasuredGrouped = 0.4;
struct Clock { const char *key = "clock"; double prior = 0.9, width = 0.1, lowest = 0.5, highest = 1; };

/// What runs say something about, beside its clock. Ampere's runs with fused attention are none; the host of a Hopper is the unit.
const std::vector<std::pair<std::string, std::vector<std::string>>> kFittedRates{
    {"Ampere", {}}, {"Hopper", {"half", "eight", "attention", "grouped"}}, {"Blackwell", {"half", "eight", "four", "attention", "grouped", "host"}},
    {"Blackwell Ultra", {"eight", "attention", "grouped", "host"}},
};

/// Generations without runs of their own and without Hopper's power density: Ampere's.
const std::set<std::string> kOlder{"Pascal", "Volta", "Turing", "Ada Lovelace"};

template <class List>
const auto &byKey(const List &list, const std::string &key)
{
    return *std::find_if(list.begin(), list.end(), [&](const auto &entry) { return entry.key == key; });
}

bool isTime(const std::string &metric)
{
    return metric == "iteration_time_s" || metric == "tokens_per_s_per_gpu" || metric == "model_tflops_per_gpu" || metric == "mfu";
}

/// The rows of one stack that may be fitted to.
std::vector<RowSet> rowsOf(const std::string &stack, const std::vector<RowSet> &all)
{
    std::vector<RowSet> sets;
    for (const RowSet &set : all) {
        RowSet kept = set;
        std::erase_if(kept.rows, [&](const ValidationRow &row) {
            return row.role != RowRole::Fit || row.plan->stack.name != stack || row.plan->profile
                || std::none_of(row.published.begin(), row.published.end(), [](const PublishedFigure &f) { return isTime(f.metric); });
        });
        for (ValidationRow &row : kept.rows) {   // one figure of time a row
            std::erase_if(row.published, [](const PublishedFigure &f) { return !isTime(f.metric); });
            row.published.resize(1);
        }
        if (!kept.rows.empty())
            sets.push_back(std::move(kept));
    }
    return sets;
}

std::string rounded(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
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
    if (plans.size() > 100)        // a sweep: its plans differ
        return std::vector<double>(plans.size(), 1);
    std::vector<double> repeats;
    for (const Plan &plan : plans)
        repeats.push_back(double(std::count(plans.begin(), plans.end(), plan)));
    return repeats;
}

/// The rows of one stack, and what weighs them.
struct Block {
    std::string stack;
    std::vector<RowSet> sets;
    std::vector<double> weights;
    Eigen::Index first = 0;        // row of the Jacobian
    bool runsOn(const std::string &architecture, const Catalogue &catalogue) const
    {
        for (const RowSet &set : sets)
            for (const ValidationRow &row : set.rows)
                for (const Datacenter &datacenter : row.plan->cluster.datacenters)
                    for (const Pool &pool : datacenter.pools)
                        if (const GpuSpec *gpu = catalogue.gpu(pool.gpu); gpu && gpu->architecture == architecture)
                            return true;
        return false;
    }
};

/// A number that is fitted: a stack's parameter, or a rate of an architecture.
struct Unknown {
    std::string owner, key;
    double prior, width, lowest, highest;
    bool isRate = false;
};

class JointFit {
public:
    JointFit(Catalogue catalogue, const std::vector<RowSet> &rows) : m_catalogue(std::move(catalogue))
    {
        for (const auto &[stack, keys] : kFitted) {
            Block block{stack, rowsOf(stack, rows), {}, m_rows};
            if (block.sets.empty())
                continue;
            for (const RowSet &set : block.sets) {
                const std::vector<double> repeats = repeatsOf(set);
                double plans = 0;
                for (const double count : repeats)
                    plans += 1 / count;
                for (std::size_t i = 0; i < set.rows.size(); ++i)
                    block.weights.push_back((set.rows[i].status == RowStatus::Gated ? 1.0 : 0.5) / std::sqrt(plans * repeats[i]));
            }
            m_rows += Eigen::Index(block.weights.size());
            for (const std::string &key : keys) {
                const Parameter &p = byKey(kParameters, key);
                m_unknowns.push_back({stack, key, p.prior, p.width, p.lowest, p.highest, false});
            }
            m_blocks.push_back(std::move(block));
        }
        for (const auto &[architecture, keys] : kFittedRates) {
            const auto runs = [&](const Block &block) { return block.runsOn(architecture, m_catalogue); };
            if (std::none_of(m_blocks.begin(), m_blocks.end(), runs))
                continue;
            const Clock clock;
            m_unknowns.push_back({architecture, clock.key, clock.prior, clock.width, clock.lowest, clock.highest, true});
            for (const std::string &key : keys) {
                const Rate &rate = byKey(kRates, key);
                const bool isUnmeasured = key == "grouped" && architecture.starts_with("Blackwell");
                m_unknowns.push_back({architecture, key, rate.prior, isUnmeasured ? kUnmeasuredGrouped : rate.width, rate.lowest, rate.highest, true});
            }
        }
    }

    void run(bool isVerbose)
    {
        const auto n = Eigen::Index(m_unknowns.size());
        Eigen::VectorXd x(n);
        for (Eigen::Index i = 0; i < n; ++i)
            x[i] = unknown(i).prior;   // not from the last fit: the result must not depend on it
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

    [[nodiscard]] const Catalogue &catalogue() const { return m_catalogue; }
    [[nodiscard]] const std::vector<Unknown> &unknowns() const { return m_unknowns; }

    /// Rows and errors of a stack's sources.
    [[nodiscard]] OrderedJson residualsOf(const std::string &stack, bool isVerbose) const
    {
        OrderedJson fit = OrderedJson::object();
        for (const Block &block : m_blocks) {
            if (block.stack != stack)
                continue;
            std::map<std::string, std::vector<double>> bySource;
            for (const ValidationResult &result : runRows(block.sets, m_catalogue).results) {
                bySource[result.source].push_back(std::abs(error(result)));
                if (isVerbose)
                    std::cerr << "  " << result.source << " " << result.id << " " << std::lround(error(result) * 1000) / 10.0 << " % " << result.problem << '\n';
            }
            for (auto &[source, errors] : bySource) {
                double sum = 0;
                for (double e : errors)
                    sum += e;
                std::sort(errors.begin(), errors.end());
                fit[source] = {{"rows", errors.size()}, {"mean_abs_error", std::stod(rounded(sum / double(errors.size())))},
                               {"median_abs_error", std::stod(rounded(errors[errors.size() / 2]))}};
            }
        }
        return fit;
    }

private:
    [[nodiscard]] const Unknown &unknown(Eigen::Index i) const { return m_unknowns[std::size_t(i)]; }

    StackSpec &stack(const std::string &id)
    {
        return *std::find_if(m_catalogue.stacks.begin(), m_catalogue.stacks.end(), [&](const StackSpec &s) { return s.id == id; });
    }

    void set(const Eigen::VectorXd &x)
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

    [[nodiscard]] std::optional<double> valueOf(const Eigen::VectorXd &x, const std::string &architecture, const std::string &key) const
    {
        for (std::size_t i = 0; i < m_unknowns.size(); ++i)
            if (const Unknown &u = m_unknowns[i]; u.isRate && u.owner == architecture && u.key == key)
                return x[Eigen::Index(i)];
        return {};
    }

    /// Of architectures and kinds without runs: the mean clock, the mean deviation of the others.
    void setRates(const Eigen::VectorXd &x)
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
            const double clock = valueOf(x, known.architecture, Clock{}.key).value_or(meanOf(Clock{}.key, 1));
            for (const Rate &rate : kRates) {
                const double other = rate.field == &SustainedRates::host ? 1 : meanOf(rate.key, 1);
                const double own = valueOf(x, known.architecture, rate.key).value_or(other);
                known.rates.*rate.field = std::clamp(own * (rate.goesWithClock ? clock : 1), 0.2, rate.goesWithClock ? 1.0 : 5.0);
            }
        }
        const auto ampere = std::find_if(m_catalogue.sustained.begin(), m_catalogue.sustained.end(), [](const ArchitectureRates &r) { return r.architecture == "Ampere"; });
        for (ArchitectureRates &known : m_catalogue.sustained)
            if (kOlder.contains(known.architecture) && ampere != m_catalogue.sustained.end())
                known.rates = ampere->rates;
    }

    /// What a step would push beyond its bound stays there, so that it does not spoil the step of the others.
    void holdAtBounds(const Eigen::VectorXd &x, Eigen::MatrixXd &normal, Eigen::VectorXd &gradient) const
    {
        for (Eigen::Index i = 0; i < x.size(); ++i) {
            const bool isHeld = (x[i] <= unknown(i).lowest && gradient[i] > 0) || (x[i] >= unknown(i).highest && gradient[i] < 0);
            if (!isHeld)
                continue;
            normal.row(i).setZero();
            normal.col(i).setZero();
            normal(i, i) = 1;
            gradient[i] = 0;
        }
    }

    void fill(const Block &block, Eigen::VectorXd &r) const
    {
        const ValidationRun run = runRows(block.sets, m_catalogue);
        for (std::size_t i = 0; i < run.results.size(); ++i)
            r[block.first + Eigen::Index(i)] = block.weights[i] * std::log1p(error(run.results[i])) / kSpread;
    }

    void fillPriors(const Eigen::VectorXd &x, Eigen::VectorXd &r) const
    {
        constexpr double kPriorWeight = 0.15;
        for (Eigen::Index i = 0; i < x.size(); ++i)
            r[m_rows + i] = kPriorWeight * (x[i] - unknown(i).prior) / unknown(i).width;
    }

    Eigen::VectorXd residuals(const Eigen::VectorXd &x)
    {
        set(x);
        Eigen::VectorXd r(m_rows + x.size());
        for (const Block &block : m_blocks)
            fill(block, r);
        fillPriors(x, r);
        return r;
    }

    /// A parameter is fitted to the rows of its own stack: those of an heir do not move it. A rate, to those on its architecture.
    [[nodiscard]] bool moves(const Unknown &u, const Block &block) const
    {
        return u.isRate ? block.runsOn(u.owner, m_catalogue) : block.stack == u.owner;
    }

    Eigen::MatrixXd derivatives(const Eigen::VectorXd &x, const Eigen::VectorXd &r)
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

    [[nodiscard]] double limitOf(Eigen::Index i) const
    {
        for (const Block &block : m_blocks)
            if (i >= block.first && i < block.first + Eigen::Index(block.weights.size()))
                return 1.5 * block.weights[std::size_t(i - block.first)];
        return 1e9;
    }

    [[nodiscard]] Eigen::VectorXd huberWeights(const Eigen::VectorXd &r) const
    {
        Eigen::VectorXd w(r.size());
        for (Eigen::Index i = 0; i < r.size(); ++i)
            w[i] = std::min(1.0, limitOf(i) / std::max(1e-12, std::abs(r[i])));
        return w;
    }

    [[nodiscard]] double cost(const Eigen::VectorXd &r) const
    {
        double sum = 0;
        for (Eigen::Index i = 0; i < r.size(); ++i) {
            const double limit = limitOf(i), a = std::abs(r[i]);
            sum += a <= limit ? a * a / 2 : limit * (a - limit / 2);
        }
        return sum;
    }

    static constexpr double kSpread = 0.05;   // errors of this size count one
    Catalogue m_catalogue;
    std::vector<Block> m_blocks;
    std::vector<Unknown> m_unknowns;
    Eigen::Index m_rows = 0;
};

std::string today()
{
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

OrderedJson readObject(const std::string &path)
{
    std::ifstream in(path);
    return OrderedJson::parse(in, nullptr, false);
}

/// One line an entry of `list`.
bool write(const std::string &path, const OrderedJson &file, const char *list, bool isOneLine)
{
    const std::string partial = path + ".part";
    {
        std::ofstream out(partial);
        out << "{\n\"sources\": " << file["sources"].dump(2) << ",\n\"" << list << "\": [\n";
        for (std::size_t s = 0; s < file[list].size(); ++s) {
            const char *end = s + 1 < file[list].size() ? ",\n" : "\n";
            if (isOneLine) {
                out << "  " << file[list][s].dump() << end;
                continue;
            }
            out << "  {\n";
            std::size_t k = 0;
            for (const auto &[key, value] : file[list][s].items())
                out << "    \"" << key << "\": " << value.dump() << (++k < file[list][s].size() ? ",\n" : "\n");
            out << "  }" << end;
        }
        out << "]\n}\n";
    }
    return std::rename(partial.c_str(), path.c_str()) == 0;
}

double kept(double value)
{
    return std::stod(rounded(value));
}

void setStacks(OrderedJson &file, const JointFit &fit, bool isVerbose)
{
    const auto entryOf = [&](const std::string &id) -> OrderedJson & {
        return *std::find_if(file["stacks"].begin(), file["stacks"].end(), [&](const OrderedJson &e) { return e.value("id", "") == id; });
    };
    for (const Unknown &u : fit.unknowns())
        if (!u.isRate)
            entryOf(u.owner)[u.key] = {kept(fit.catalogue().stack(u.owner)->*byKey(kParameters, u.key).field), "fit"};
    for (const Inherited &same : kInherited)
        entryOf(same.stack)[same.key] = {kept(fit.catalogue().stack(same.relative)->*byKey(kParameters, same.key).field), "relative"};
    for (const auto &[stack, keys] : kFitted) {
        const OrderedJson residuals = fit.residualsOf(stack, isVerbose);
        if (!residuals.empty())
            entryOf(stack)["fit"] = residuals;
        std::cerr << stack << " " << residuals.dump() << '\n';
    }
    file["sources"]["fit"] = {{"title", "fitted by tools/fit_stacks to the rows named under \"fit\""}, {"date", today()}};
    file["sources"]["relative"] = {{"title", "fitted for a relative that runs the same kernels, tools/fit_stacks names it"}, {"date", today()}};
}

void setRates(OrderedJson &file, const JointFit &fit)
{
    for (OrderedJson &entry : file["architectures"]) {
        const std::string architecture = entry.value("architecture", "");
        for (const ArchitectureRates &known : fit.catalogue().sustained) {
            if (known.architecture != architecture)
                continue;
            for (const Rate &rate : kRates) {
                const bool isFitted = std::any_of(fit.unknowns().begin(), fit.unknowns().end(), [&](const Unknown &u) {
                    return u.isRate && u.owner == architecture && (u.key == rate.key || (architecture == "Ampere" && rate.field == &SustainedRates::half));
                });
                entry[rate.key] = {kept(known.rates.*rate.field), isFitted ? "fit" : "relative"};
            }
        }
    }
    file["sources"]["fit"] = {{"title", "fitted by tools/fit_stacks to the published runs of all stacks whose role is fit"}, {"date", today()}};
    file["sources"]["relative"] = {{"title", "the architecture's own clock, and the mean of what the fitted ones deviate from theirs; where it has no runs their mean clock; Pascal, Volta, Turing and Ada: Ampere's"}, {"date", today()}};
}

} // namespace

int main(int argc, char **argv)
{
    std::string path;
    bool isVerbose = false;
    std::vector<RowSet> rows;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--rows" && i + 1 < argc) {
            auto read = readRows(argv[++i]);
            if (!read) {
                for (const Error &error : read.error())
                    std::cerr << toString(error) << '\n';
                return 2;
            }
            rows.push_back(std::move(*read));
        } else if (argument == "--verbose")
            isVerbose = true;
        else
            path = argument;
    }
    const std::string ratesPath = path.substr(0, path.find_last_of('/') + 1) + "sustained.json";
    OrderedJson stacks = readObject(path), rates = readObject(ratesPath);
    if (!stacks.is_object() || !stacks.contains("stacks") || !rates.is_object() || !rates.contains("architectures")) {
        std::cerr << "usage: fit-stacks resources/catalog/stack_times.json [--rows FILE]... [--verbose], sustained.json beside it\n";
        return 2;
    }
    JointFit fit(builtinCatalogue(), rows.empty() ? builtinRows() : rows);
    fit.run(isVerbose);
    setStacks(stacks, fit, isVerbose);
    setRates(rates, fit);
    return write(path, stacks, "stacks", false) && write(ratesPath, rates, "architectures", true) ? 0 : 1;
}
