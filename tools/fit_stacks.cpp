// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the time habits of software stacks to published training runs: the rows of resources/validation whose role is
// "fit". Robust least squares on the log of predicted over published time (Levenberg-Marquardt, Huber weights), every source
// with equal weight, each parameter drawn to a prior as wide as our ignorance. Writes stack_times.json with residuals.
//
//   fit-stacks OUT/stack_times.json [--stack ID]... [--rows FILE]... [--verbose]

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

using namespace trainyard;
using OrderedJson = nlohmann::ordered_json;

namespace {

struct Parameter {
    const char *key;
    double StackSpec::*field;
    double prior, width;           // width of the prior, in the parameter's own unit
    double lowest, highest;
};

// Priors that all stacks share, where each fit starts.
const std::vector<Parameter> kParameters{
    {"host_us_per_kernel", &StackSpec::hostUsPerKernel, 10, 8, 1, 60},
    {"kernel_efficiency", &StackSpec::kernelEfficiency, 0.95, 0.05, 0.6, 1.05},
    {"narrow_efficiency", &StackSpec::narrowEfficiency, 0.9, 0.1, 0.5, 1.3},
    {"elementwise_passes", &StackSpec::elementwisePasses, 1.3, 0.5, 0.5, 6},
    {"eager_passes", &StackSpec::eagerPasses, 2.5, 1, 0.8, 10},
    {"accumulation_bytes", &StackSpec::accumulationBytes, 8, 2, 2, 16},
    {"cast_passes", &StackSpec::castPasses, 1, 0.5, 0, 6},
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

/// What a stack cannot do stays 0: it is not fitted.
const std::map<std::string, std::vector<std::string>> kFitted{
    {"megatron-lm-2021", {"host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
    {"megatron-lm-2022", {"host_us_per_kernel", "kernel_efficiency", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
    {"megatron-deepspeed", {"host_us_per_kernel", "elementwise_passes", "accumulation_bytes", "micro_batch_overhead_us", "iteration_overhead_ms"}},
    {"megatron-core", {"host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "cast_passes", "tensor_overlap", "pipeline_overlap", "gradient_overlap", "parameter_overlap", "overlap_slowdown", "expert_overhead_us", "iteration_overhead_ms"}},
    {"fsdp", {"host_us_per_kernel", "kernel_efficiency", "narrow_efficiency", "elementwise_passes", "eager_passes", "cast_passes", "rowwise_cast_passes", "async_tensor_overlap", "overlap_slowdown", "parameter_overlap", "iteration_overhead_ms"}},
};

/// Taken from a relative that has been fitted: Megatron-DeepSpeed runs the kernels of the Megatron-LM of 2021; what is not
/// compiled costs the same in every framework of PyTorch.
const std::map<std::string, std::map<std::string, std::string>> kInherited{
    {"megatron-lm-2021", {{"eager_passes", "fsdp"}, {"narrow_efficiency", "megatron-core"}}},
    {"megatron-lm-2022", {{"eager_passes", "fsdp"}, {"narrow_efficiency", "megatron-core"}}},
    {"megatron-core", {{"eager_passes", "fsdp"}, {"rowwise_cast_passes", "fsdp"}, {"async_tensor_overlap", "fsdp"}}},
    {"megatron-deepspeed", {{"kernel_efficiency", "megatron-lm-2021"}, {"narrow_efficiency", "megatron-core"}, {"eager_passes", "fsdp"}}},
    {"deepspeed", {{"kernel_efficiency", "megatron-lm-2021"}, {"narrow_efficiency", "megatron-core"}, {"host_us_per_kernel", "megatron-deepspeed"},
                   {"elementwise_passes", "megatron-deepspeed"}, {"accumulation_bytes", "megatron-deepspeed"},
                   {"micro_batch_overhead_us", "megatron-deepspeed"}, {"iteration_overhead_ms", "megatron-deepspeed"},
                   {"eager_passes", "fsdp"}, {"parameter_overlap", "fsdp"}, {"overlap_slowdown", "fsdp"}}},
};

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

class StackFit {
public:
    StackFit(Catalogue catalogue, const std::string &id, std::vector<RowSet> sets)
        : m_catalogue(std::move(catalogue)), m_id(id), m_sets(std::move(sets))
    {
        for (const std::string &key : kFitted.at(id))
            m_parameters.push_back(&*std::find_if(kParameters.begin(), kParameters.end(), [&](const Parameter &p) { return p.key == key; }));
        for (const RowSet &set : m_sets) {
            for (const ValidationRow &row : set.rows)
                m_weights.push_back((row.status == RowStatus::Gated ? 1.0 : 0.5) / std::sqrt(double(set.rows.size())));
        }
    }

    void run(bool isVerbose)
    {
        const Eigen::Index n = Eigen::Index(m_parameters.size());
        Eigen::VectorXd x(n);
        for (Eigen::Index i = 0; i < n; ++i)
            x[i] = m_parameters[std::size_t(i)]->prior;   // not from the last fit: the result must not depend on it
        Eigen::VectorXd r = residuals(x);
        double damping = 1e-2, loss = cost(r);
        for (int round = 0; round < 25; ++round) {
            Eigen::MatrixXd jacobian(r.size(), n);
            for (Eigen::Index i = 0; i < n; ++i) {
                const Parameter &p = *m_parameters[std::size_t(i)];
                Eigen::VectorXd moved = x;
                const double step = p.width * (x[i] + 0.02 * p.width > p.highest ? -0.02 : 0.02);
                moved[i] += step;
                jacobian.col(i) = (residuals(moved) - r) / step;
            }
            const Eigen::VectorXd w = huberWeights(r);
            const Eigen::MatrixXd normal = jacobian.transpose() * w.asDiagonal() * jacobian;
            const Eigen::VectorXd gradient = jacobian.transpose() * w.asDiagonal() * r;
            bool isBetter = false;
            double gain = 0;
            for (int attempt = 0; attempt < 6 && !isBetter; ++attempt) {
                Eigen::MatrixXd damped = normal;
                damped.diagonal() += damping * normal.diagonal();
                Eigen::VectorXd next = x - damped.ldlt().solve(gradient);
                for (Eigen::Index i = 0; i < n; ++i)
                    next[i] = std::clamp(next[i], m_parameters[std::size_t(i)]->lowest, m_parameters[std::size_t(i)]->highest);
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
                std::cerr << m_id << " round " << round << " loss " << loss << '\n';
            if (!isBetter || gain < 1e-6 * loss)
                break;
        }
        set(x);
    }

    [[nodiscard]] OrderedJson entry(const OrderedJson &before) const
    {
        OrderedJson out = before;
        const StackSpec &fitted = *std::find_if(m_catalogue.stacks.begin(), m_catalogue.stacks.end(), [&](const StackSpec &s) { return s.id == m_id; });
        for (const Parameter *p : m_parameters)
            out[p->key] = {std::stod(rounded(fitted.*p->field)), "fit"};
        OrderedJson &fit = out["fit"] = OrderedJson::object();
        const ValidationRun run = runRows(m_sets, m_catalogue);
        std::map<std::string, std::vector<double>> bySource;
        for (const ValidationResult &result : run.results)
            bySource[result.source].push_back(std::abs(error(result)));
        for (auto &[source, errors] : bySource) {
            double sum = 0;
            for (double e : errors)
                sum += e;
            std::sort(errors.begin(), errors.end());
            fit[source] = {{"rows", errors.size()}, {"mean_abs_error", std::stod(rounded(sum / double(errors.size())))},
                           {"median_abs_error", std::stod(rounded(errors[errors.size() / 2]))}};
        }
        return out;
    }

    void report() const
    {
        const ValidationRun run = runRows(m_sets, m_catalogue);
        for (const ValidationResult &result : run.results) {
            std::cerr << "  " << result.source << " " << result.id << " " << result.published << " " << result.predicted.value_or(-1) << " "
                          << int(std::lround(error(result) * 1000)) / 10.0 << " %" << (result.predicted ? "" : result.problem) << '\n';
        }
    }

    static std::string rounded(double value)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%.4g", value);
        return text;
    }

private:
    StackSpec &stack()
    {
        return *std::find_if(m_catalogue.stacks.begin(), m_catalogue.stacks.end(), [&](const StackSpec &s) { return s.id == m_id; });
    }

    void set(const Eigen::VectorXd &x)
    {
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            stack().*m_parameters[i]->field = x[Eigen::Index(i)];
    }

    /// Of the time: a rate that is too high is a time that is too low.
    static double error(const ValidationResult &result)
    {
        if (!result.predicted || *result.predicted <= 0)
            return 1;
        const double ratio = *result.predicted / result.published;
        return (result.metric == "iteration_time_s" ? ratio : 1 / ratio) - 1;
    }

    Eigen::VectorXd residuals(const Eigen::VectorXd &x)
    {
        set(x);
        const ValidationRun run = runRows(m_sets, m_catalogue);
        Eigen::VectorXd r(Eigen::Index(run.results.size() + m_parameters.size()));
        for (std::size_t i = 0; i < run.results.size(); ++i)
            r[Eigen::Index(i)] = m_weights[i] * std::log1p(error(run.results[i])) / kSpread;
        constexpr double kPriorWeight = 0.15;
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            r[Eigen::Index(run.results.size() + i)] = kPriorWeight * (x[Eigen::Index(i)] - m_parameters[i]->prior) / m_parameters[i]->width;
        return r;
    }

    [[nodiscard]] double limitOf(Eigen::Index i) const
    {
        return std::size_t(i) < m_weights.size() ? 1.5 * m_weights[std::size_t(i)] : 1e9;
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
    std::string m_id;
    std::vector<RowSet> m_sets;
    std::vector<const Parameter *> m_parameters;
    std::vector<double> m_weights;
};

std::string today()
{
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    std::string path;
    std::vector<std::string> stacks;
    bool isVerbose = false;
    std::vector<RowSet> rows;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--stack" && i + 1 < argc)
            stacks.emplace_back(argv[++i]);
        else if (argument == "--rows" && i + 1 < argc) {
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
    std::ifstream in(path);
    OrderedJson file = OrderedJson::parse(in, nullptr, false);
    if (!file.is_object() || !file.contains("stacks")) {
        std::cerr << "usage: fit-stacks resources/catalog/stack_times.json [--stack ID]... [--rows FILE]... [--verbose]\n";
        return 2;
    }
    const auto entryOf = [&](const std::string &id) -> OrderedJson & {
        return *std::find_if(file["stacks"].begin(), file["stacks"].end(), [&](const OrderedJson &e) { return e.value("id", "") == id; });
    };
    Catalogue catalogue = builtinCatalogue();
    // Relatives first.
    for (const char *id : {"fsdp", "megatron-core", "megatron-lm-2021", "megatron-lm-2022", "megatron-deepspeed", "deepspeed"}) {
        StackSpec &stack = *std::find_if(catalogue.stacks.begin(), catalogue.stacks.end(), [&](const StackSpec &s) { return s.id == id; });
        OrderedJson &entry = entryOf(id);
        for (const auto &[key, relative] : kInherited.contains(id) ? kInherited.at(id) : std::map<std::string, std::string>{}) {
            const auto parameter = std::find_if(kParameters.begin(), kParameters.end(), [&](const Parameter &p) { return p.key == key; });
            const double value = entryOf(relative)[key][0];
            stack.*parameter->field = value;
            entry[key] = {value, "relative"};
        }
        const bool isAsked = stacks.empty() || std::find(stacks.begin(), stacks.end(), id) != stacks.end();
        std::vector<RowSet> sets = isAsked && kFitted.contains(id) ? rowsOf(id, rows.empty() ? builtinRows() : rows) : std::vector<RowSet>{};
        if (sets.empty())
            continue;
        StackFit fit(catalogue, id, std::move(sets));
        fit.run(isVerbose);
        if (isVerbose)
            fit.report();
        entry = fit.entry(entry);
        std::cerr << id << " " << entry["fit"].dump() << '\n';
    }
    file["sources"]["fit"] = {{"title", "fitted by tools/fit_stacks to the rows named under \"fit\""}, {"date", today()}};
    file["sources"]["relative"] = {{"title", "fitted for a relative that runs the same kernels, tools/fit_stacks names it"}, {"date", today()}};
    const std::string partial = path + ".part";
    {
        std::ofstream out(partial);
        out << "{\n\"sources\": " << file["sources"].dump(2) << ",\n\"stacks\": [\n";
        for (std::size_t s = 0; s < file["stacks"].size(); ++s) {
            out << "  {\n";
            std::size_t k = 0;
            for (const auto &[key, value] : file["stacks"][s].items())
                out << "    \"" << key << "\": " << value.dump() << (++k < file["stacks"][s].size() ? ",\n" : "\n");
            out << (s + 1 < file["stacks"].size() ? "  },\n" : "  }\n");
        }
        out << "]\n}\n";
    }
    return std::rename(partial.c_str(), path.c_str()) == 0 ? 0 : 1;
}
