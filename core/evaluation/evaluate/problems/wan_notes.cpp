// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/wan_notes.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/facts/cluster/zone_links.h"
#include "core/facts/hardware/network_spec.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/cost/wan/wan_reduce.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::string timeWords(Seconds t)
{
    return t.value >= 1   ? formatted("%.3g s", t.value)
        : t.value >= 1e-3 ? formatted("%.3g ms", t.value * 1e3)
                          : formatted("%.3g µs", t.value * 1e6);
}

/// Fewer bits pay where they save more of the transfer than packing costs, (1 - r) S / BW > encode + decode.
std::string verdict(Seconds saved, Seconds paid, const char *of)
{
    return "save " + timeWords(saved) + " of transfer " + of + " and cost " + timeWords(paid)
        + " of GPU time: " + (saved > paid ? "worth it where the transfer shows" : "not worth it");
}

class WanNotes {
public:
    WanNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
        : m_problems(problems)
        , m_metrics(evaluation.metrics)
        , m_work(workload)
        , m_plan(*workload.plan)
    {
        for (int stage = 0; stage < workload.degrees.pipeline; ++stage)
            m_replicasApart |= replicaSites(workload, stage).size() > 1;
    }

    void add()
    {
        addZones();
        addLosses();
        addCeilings();
        addUnusedTurns();
        addFlat();
        addLocalSgd();
        addFragments();
        addActivationBits();
        addGradientBits();
    }

private:
    void note(const char *where, std::string sentence, Severity severity = Severity::Note)
    {
        m_problems.push_back({ severity, std::move(sentence), where, {} });
    }

    /// Figures that the plan does not state say where they come from.
    void addZones()
    {
        for (const WanLinkUse &use : m_metrics.wanLinks) {
            const auto index = std::size_t(use.link);
            const WanLink &link = m_plan.cluster.wanLinks[index];
            const ZoneNetwork *network = builtinZoneNetwork(link.cloud);
            if (!network || use.totalBytes() <= 0)
                continue;
            const std::string key = "cluster.wan_links[" + std::to_string(index) + "].cloud";
            const auto pair = zonePairRate(m_plan.cluster, link, m_work.crossingBytes());
            if (!pair)
                note(key.c_str(),
                    network->name + " say nothing of " + nameOf(link)
                        + ": its ends are no two of their zones, or have machines that were not measured. The link's "
                          "own node_pair_gbps holds");
            else
                note(key.c_str(),
                    "A pair of nodes " + nameOf(link)
                        + formatted(" reaches %.3g Gbps with messages of ", pair->rate.value * 8e-9)
                        + formatted("%.3g MB: ", pair->message.value / 1e6) + network->name + ", machines "
                        + pair->slowest->machine);
        }
    }

    void addLosses()
    {
        for (const WanLinkUse &use : m_metrics.wanLinks) {
            const WanLink &link = m_plan.cluster.wanLinks[std::size_t(use.link)];
            const Transport &pair = m_work.transports[std::size_t(use.link)];
            if (use.totalBytes() <= 0 || !pair.lossBound)
                continue;
            const bool bbrHelps = m_plan.wan.congestion == CongestionControl::Cubic
                && link.lossRate <= builtinNetwork().wan.bbrLossThreshold;
            Problem problem { Severity::Warning,
                "Losses of " + formatted("%.3g %%", 100 * link.lossRate) + " leave a connection " + nameOf(link)
                    + formatted(" a window of %.3g MB: ", pair.window.value / 1e6)
                    + formatted(
                        "%d connections reach %.3g Gbps per node pair", pair.connections, pair.rate.value * 8e-9)
                    + (stopsShort(pair)
                            ? formatted(" of %.3g; %d would fill it, more than auto opens", pair.capGbps, pair.toFill)
                            : ""),
                "cluster.wan_links[" + std::to_string(use.link) + "].loss_rate", {} };
            if (bbrHelps)
                problem.fixes.push_back(
                    fixOf(m_plan, "Use BBR", [](Plan &p) { p.wan.congestion = CongestionControl::Bbr; }));
            m_problems.push_back(std::move(problem));
        }
    }

    /// `auto` would have to open more connections than it does.
    [[nodiscard]] std::string nameOf(const WanLink &link) const
    {
        const auto label = [&](const std::string &id) {
            const int index = m_plan.cluster.indexOf(id);
            return index < 0 ? id : m_plan.cluster.datacenters[std::size_t(index)].label();
        };
        return label(link.between[0]) + "–" + label(link.between[1]);
    }

    [[nodiscard]] bool stopsShort(const Transport &pair) const
    {
        return !m_plan.wan.tcpConnections && pair.connections < pair.toFill;
    }

    /// Windows that hosts allow, not losses, leave a node pair short of its cap.
    void addCeilings()
    {
        for (const WanLinkUse &use : m_metrics.wanLinks) {
            const auto index = std::size_t(use.link);
            const WanLink &link = m_plan.cluster.wanLinks[index];
            const Transport &pair = m_work.transports[index];
            const bool binds = stopsShort(pair) && pair.rate < gbitsPerSecond(link.capacityGbps);
            if (use.totalBytes() <= 0 || pair.lossBound || !binds)
                continue;
            // Rounded up to a hundredth of a MB, so that the window does fill the pair.
            const double enough =
                std::ceil(pair.capGbps * roundTripMs(link) / 8 / pair.connections * 100 * (1 - 1e-12)) / 100;
            Problem problem { Severity::Warning,
                formatted("%d connections, the most that auto opens, with windows of %.3g MB reach ", pair.connections,
                    pair.window.value / 1e6)
                    + formatted("%.3g of %.3g Gbps per node pair ", pair.rate.value * 8e-9, pair.capGbps) + nameOf(link)
                    + formatted(": %d would fill it, or windows of %.4g MB", pair.toFill, enough),
                "cluster.wan_links[" + std::to_string(use.link) + "].tcp_window_mb", {} };
            if (link.cloud.empty()) // else the window is the provider's
                problem.fixes.push_back(fixOf(m_plan, formatted("TCP window %.4g MB", enough),
                    [&](Plan &p) { p.cluster.wanLinks[index].tcpWindowMb = enough; }));
            m_problems.push_back(std::move(problem));
        }
    }

    void addUnusedTurns()
    {
        if (m_plan.wan.sharing == WanSharing::Temporal)
            return;
        if (m_plan.wan.cell)
            note("wan.cell",
                "Pipelines share a link side by side, not in turns: a cell of " + counted(*m_plan.wan.cell, "pipeline")
                    + " changes nothing");
        if (m_plan.wan.turns != TurnOrder::RoundRobin)
            note("wan.turns", "Pipelines share a link side by side, not in turns: the order of turns changes nothing");
    }

    void addFlat()
    {
        if (m_plan.wan.allReduce != WanAllReduce::Flat)
            return;
        if (!m_replicasApart)
            note("wan.all_reduce",
                "All replicas of a stage are in one datacenter: a flat all-reduce is the one there is");
        else if (trainsLocally(m_work))
            note("wan.all_reduce", "Local SGD exchanges datacenter by datacenter: a flat all-reduce changes nothing");
        else if (!reducesFlat(m_work, replicaSites(m_work, 0)))
            note("wan.all_reduce",
                "From ZeRO-2 on gradients are scattered layer by layer inside each datacenter: the numbers are for a "
                "hierarchical all-reduce",
                Severity::Warning);
    }

    void addLocalSgd()
    {
        const WanStrategy &wan = m_plan.wan;
        if (wan.localSgd == LocalSgd::None)
            return;
        if (!trainsLocally(m_work) || !m_replicasApart) {
            note("wan.local_sgd",
                "No two replicas are in different datacenters, so none trains apart from the others: local SGD changes "
                "nothing here");
            return;
        }
        const SiteExchange exchange = slowest(siteExchanges());
        const bool streams = wan.localSgd == LocalSgd::Streaming;
        std::string sentence = std::string(streams ? "Streaming local SGD" : "DiLoCo")
            + " affects convergence: each datacenter trains " + counted(wan.localSteps, "step")
            + " alone, then an outer optimizer moves all to the mean of their weights"
            + (streams ? ", which arrives while they train on" : "")
            + (wan.exchangeBits < 32 ? ", sent in " + counted(wan.exchangeBits, "bit") : "")
            + ". The numbers are per step; more steps may be needed. An exchange takes " + timeWords(exchange.exchange);
        const double steps = m_metrics.iterationTime.value_or(0) * wan.localSteps;
        if (streams) // where it does not fit, the steps are as long as the exchange and no longer
            sentence += exchange.exchange.value < 0.9999 * steps ? ", hidden behind the steps"
                                                                 : ", longer than the steps that should hide it";
        else if (steps > 0)
            sentence += formatted(", %.2g %% of the time", 100 * exchange.exchange.value / steps);
        note("wan.local_sgd", sentence);
    }

    void addFragments()
    {
        const WanStrategy &wan = m_plan.wan;
        if (wan.localSgd == LocalSgd::None || wan.fragments <= 1 || !trainsLocally(m_work) || !m_replicasApart)
            return;
        if (wan.localSgd != LocalSgd::Streaming)
            note(
                "wan.fragments", "Only streaming local SGD exchanges the model in fragments: they change nothing here");
        else if (wan.fragments > wan.localSteps)
            note("wan.fragments",
                counted(wan.fragments, "fragment") + " to exchange in " + counted(wan.localSteps, "step")
                    + ": several leave after the same step, so that each adds a round trip and the peak of traffic "
                      "falls no further");
    }

    [[nodiscard]] std::vector<SiteExchange> siteExchanges() const { return siteExchanges(m_work); }
    [[nodiscard]] std::vector<SiteExchange> siteExchanges(const Workload &workload) const
    {
        std::vector<WanLinkUse> links(m_plan.cluster.wanLinks.size());
        return trainyard::siteExchanges(workload, links);
    }
    static SiteExchange slowest(const std::vector<SiteExchange> &stages)
    {
        return *std::ranges::max_element(
            stages, {}, [](const SiteExchange &s) { return (s.exchange + s.reduce).value; });
    }

    /// The boundary between datacenters that takes longest, of the first class of pipelines.
    void addActivationBits()
    {
        if (!m_plan.wan.activationBits)
            return;
        const WireBits bits = activationBits(m_plan);
        Seconds saved, paid;
        for (const PipelineClass &c : m_work.layout.classes) {
            for (std::size_t s = 0; s + 1 < c.locations.size(); ++s) {
                const StageLocation from = c.locations[s], to = c.locations[s + 1];
                if (from.datacenter == to.datacenter)
                    continue;
                const Seconds whole = Bytes { m_work.boundaryBytes(false) } / wanPath(m_work, from, to).nodePair;
                saved = std::max(saved, whole * (1 - bits.share()));
                paid = std::max(paid, boundaryRecodeTime(m_work, from, false) + boundaryRecodeTime(m_work, to, false));
            }
        }
        if (bits.share() >= 1)
            note("wan.activation_bits", "Activations are computed in no more bits than that: nothing is compressed");
        else if (saved.value <= 0)
            note("wan.activation_bits", "No stage boundary crosses datacenters: there is nothing to compress");
        else
            note("wan.activation_bits",
                "Activations in " + formatted("%.0f instead of %.0f bits", bits.wire, bits.own)
                    + " affect convergence. They " + verdict(saved, paid, "per micro-batch and direction"));
    }

    void addGradientBits()
    {
        if (!m_plan.wan.gradientBits)
            return;
        if (trainsLocally(m_work) && m_replicasApart) {
            note("wan.gradient_bits",
                "Local SGD exchanges parameters in wan.exchange_bits: gradients do not cross datacenters");
            return;
        }
        if (!m_replicasApart) {
            note("wan.gradient_bits", "All replicas of a stage are in one datacenter: no gradient crosses the WAN");
            return;
        }
        Plan whole = m_plan;
        whole.wan.gradientBits.reset();
        const Workload uncompressed = m_work.askedBy(std::make_shared<const Plan>(std::move(whole)));
        const SiteExchange with = slowest(siteExchanges()), without = slowest(siteExchanges(uncompressed));
        const Seconds transfer = with.reduce - with.recode, before = without.reduce;
        if (with.recode.value <= 0)
            note("wan.gradient_bits", "Gradients are reduced in no more bits than that: nothing is compressed");
        else
            note("wan.gradient_bits",
                "Gradients in " + counted(*m_plan.wan.gradientBits, "bit")
                    + " between datacenters affect convergence. They "
                    + verdict(before - transfer, with.recode, "per iteration"));
    }

    std::vector<Problem> &m_problems;
    const Metrics &m_metrics;
    const Workload &m_work;
    const Plan &m_plan;
    bool m_replicasApart = false;
};

} // namespace

void addWanNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    if (!workload.plan->cluster.wanLinks.empty())
        WanNotes(problems, evaluation, workload).add();
}

} // namespace trainyard
