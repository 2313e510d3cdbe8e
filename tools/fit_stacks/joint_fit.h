#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Robust least squares over all stacks and GPU rates at once (docs/model.md, "Stacks"): Levenberg-Marquardt with
// numerical derivatives, Huber weights, priors, bounds.

#include "core/evaluation/validation/run.h"
#include "core/facts/catalogue/catalogue.h"
#include "tools/fit_stacks/unknowns.h"

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include <optional>

namespace fit_stacks {

using namespace trainyard;
using OrderedJson = nlohmann::ordered_json;

/// "%.4g", as the files hold what is fitted.
[[nodiscard]] std::string rounded(double value);

/// The rows of one stack, and what weighs them.
struct Block {
    std::string stack;
    std::vector<RowSet> sets;
    std::vector<double> weights;
    Eigen::Index first = 0; // row of the Jacobian
    [[nodiscard]] bool runsOn(const std::string &architecture, const Catalogue &catalogue) const
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
    JointFit(Catalogue catalogue, const std::vector<RowSet> &rows);
    void run(bool isVerbose);
    [[nodiscard]] const Catalogue &catalogue() const { return m_catalogue; }
    [[nodiscard]] const std::vector<Unknown> &unknowns() const { return m_unknowns; }

    /// Rows and errors of a stack's sources.
    [[nodiscard]] OrderedJson residualsOf(const std::string &stack, bool isVerbose) const;

private:
    [[nodiscard]] const Unknown &unknown(Eigen::Index i) const { return m_unknowns[std::size_t(i)]; }

    StackSpec &stack(const std::string &id);
    void set(const Eigen::VectorXd &x);
    [[nodiscard]] std::optional<double> valueOf(
        const Eigen::VectorXd &x, const std::string &architecture, const std::string &key) const;

    /// Of architectures and kinds without runs: the mean clock, the mean deviation of the others.
    void setRates(const Eigen::VectorXd &x);

    /// What a step would push beyond its bound stays there, so that it does not spoil the step of the others.
    void holdAtBounds(const Eigen::VectorXd &x, Eigen::MatrixXd &normal, Eigen::VectorXd &gradient) const;
    void fill(const Block &block, Eigen::VectorXd &r) const;
    void fillPriors(const Eigen::VectorXd &x, Eigen::VectorXd &r) const;
    Eigen::VectorXd residuals(const Eigen::VectorXd &x);

    /// A parameter is fitted to the rows of its own stack: those of an heir do not move it. A rate, to those on its
    /// architecture.
    [[nodiscard]] bool moves(const Unknown &u, const Block &block) const;
    Eigen::MatrixXd derivatives(const Eigen::VectorXd &x, const Eigen::VectorXd &r);
    [[nodiscard]] double limitOf(Eigen::Index i) const;
    [[nodiscard]] Eigen::VectorXd huberWeights(const Eigen::VectorXd &r) const;
    [[nodiscard]] double cost(const Eigen::VectorXd &r) const;
    static constexpr double kSpread = 0.05; // errors of this size count one
    Catalogue m_catalogue;
    std::vector<Block> m_blocks;
    std::vector<Unknown> m_unknowns;
    Eigen::Index m_rows = 0;
};

} // namespace fit_stacks
