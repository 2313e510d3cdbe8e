// SPDX-License-Identifier: GPL-3.0-or-later
// NVLink, fabric and WAN from collectives: what stays in a node first, since collectives of many nodes go through both.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/facts/hardware/network_spec.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/ranks.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/link_fit.h"
#include "core/runs/calibrate/robust_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr double kOfOneSize = 0.02; // messages that lie no farther apart are alike

class LinkFactors {
public:
    explicit LinkFactors(CalibrationCase &of)
        : m_case(of)
    {
        CollectiveSamples seen = collectivesOf(of.run, of.fitted, of.workload, of.map, of.options.stop);
        const CollectiveSamples held = collectivesOf(of.run, of.held, of.workload, of.map, of.options.stop);
        noteLeftOut(seen);
        m_samples = std::move(seen.samples);
        m_held = held.samples;
        std::set<std::string> gpus;
        for (const GpuRun &run : m_case.workload.layout.runs)
            gpus.insert(m_case.workload.gpu(run.location()).id);
        if (gpus.size() > 1) {
            if (!collectiveBenchmarks(*of.run.recording, 0).empty())
                m_case.note("Benchmarks of collectives do not tell on which of the plan's "
                    + wholeText(double(gpus.size())) + " GPU types they ran: nothing is taken from them");
            return;
        }
        for (const std::size_t half : { 0, 1 })
            for (const CollectiveSample &point : collectiveBenchmarks(*of.run.recording, half))
                (half == 0 ? m_samples : m_held).push_back(placed(point));
    }

    void add()
    {
        std::map<std::string, StageLocation> gpus, datacenters;
        for (const CollectiveSample &sample : m_samples) {
            if (sample.across)
                continue;
            if (sample.isInNode())
                gpus.try_emplace(m_case.workload.gpu(sample.at).id, sample.at);
            else
                datacenters.try_emplace(
                    m_case.workload.plan->cluster.datacenters[std::size_t(sample.at.datacenter)].id, sample.at);
        }
        for (const auto &[gpu, at] : gpus)
            addNvlink(gpu, at);
        for (const auto &[id, at] : datacenters)
            addFabric(id, at);
        addWan();
    }

private:
    void noteLeftOut(const CollectiveSamples &seen)
    {
        if (seen.unmatched > 0)
            m_case.note(wholeText(double(seen.unmatched))
                + " collectives have ranks that nobody recorded: what they wait for is not known, and links are not "
                  "fitted to them");
        if (seen.unsized > 0)
            m_case.note(wholeText(double(seen.unsized)) + " collectives do not tell their size");
        if (seen.exchanges > 0)
            m_case.note(wholeText(double(seen.exchanges))
                + " exchanges with experts are no plain all-to-all in this plan (moe.dispatch): no link is fitted to "
                  "them");
        if (seen.afar > 0)
            m_case.note(wholeText(double(seen.afar))
                + " collectives reach over several datacenters: no single link is fitted to them");
        if (seen.unknown > 0)
            m_case.note(wholeText(double(seen.unknown))
                + " collectives are of operations that the model has no formula for: no link is fitted to them");
    }

    /// Benchmarks do not tell where they ran: at the plan's first stage.
    [[nodiscard]] CollectiveSample placed(CollectiveSample point) const
    {
        if (!m_case.workload.layout.classes.empty())
            point.at = m_case.workload.layout.classes.front().locations.front();
        // A rack of NVLink is one node of several hosts.
        const int domain = domainOf(m_case.workload, point.at);
        if (domain > m_case.workload.pool(point.at).gpusPerNode && domain >= point.ranks)
            point.ranksPerNode = point.ranks;
        return point;
    }

    /// As the plan will have it: by what was proposed, else by what it has accepted before.
    [[nodiscard]] Link insideOf(StageLocation at)
    {
        const GpuSpec &gpu = m_case.workload.gpu(at);
        Link link = deviceLink(gpu, builtinNetwork());
        const auto take = [&](const CalibrationFactor &factor) {
            const std::string &datacenter = m_case.workload.plan->cluster.datacenters[std::size_t(at.datacenter)].id;
            const bool isMeant = factor.what == CalibratedPart::Nvlink && (factor.gpu.empty() || factor.gpu == gpu.id)
                && (factor.datacenter.empty() || factor.datacenter == datacenter);
            if (isMeant)
                link = calibratedLink(link, factor, m_kinds.emplace_back());
            return isMeant;
        };
        const bool isProposed = std::ranges::any_of(m_case.proposal.factors,
            [&](const FittedFactor &fitted) { return fitted.refused.empty() && take(fitted.factor); });
        for (const auto &[id, factor] : m_case.known)
            if (!isProposed)
                take(factor);
        return link;
    }

    [[nodiscard]] std::vector<CollectiveSample> of(const std::vector<CollectiveSample> &all, auto &&isMeant) const
    {
        std::vector<CollectiveSample> some;
        std::ranges::copy_if(all, std::back_inserter(some),
            [&](const CollectiveSample &sample) { return !sample.across && isMeant(sample); });
        return some;
    }

    /// Median of |modelled / measured - 1|.
    [[nodiscard]] static std::optional<double> errorOf(
        const std::vector<CollectiveSample> &samples, const Link &inside, const Link &between)
    {
        std::vector<double> off;
        for (const CollectiveSample &sample : samples)
            if (const auto seconds = modelledSeconds(sample, inside, between))
                off.push_back(std::abs(*seconds / sample.seconds - 1));
        return off.empty() ? std::nullopt : std::optional(medianOf(std::move(off)));
    }

    void addNvlink(const std::string &gpu, StageLocation at)
    {
        const auto isMeant = [&](const CollectiveSample &sample) {
            return sample.isInNode() && m_case.workload.gpu(sample.at).id == gpu;
        };
        addLink("nvlink-" + gpu, "Collectives inside a node of " + m_case.workload.gpu(at).name,
            { .what = CalibratedPart::Nvlink, .gpu = gpu }, isMeant,
            deviceLink(m_case.workload.gpu(at), builtinNetwork()), nominalFabric(m_case.workload, at));
    }

    void addFabric(const std::string &datacenter, StageLocation at)
    {
        const auto isMeant = [&](const CollectiveSample &sample) {
            return !sample.isInNode() && sample.at.datacenter == at.datacenter;
        };
        addLink("fabric-" + datacenter, "Collectives between nodes of " + datacenter,
            { .what = CalibratedPart::Fabric, .datacenter = datacenter }, isMeant, insideOf(at),
            nominalFabric(m_case.workload, at));
    }

    /// Fits the link inside a node or the one between nodes, as `part` says, to the samples that are meant.
    void addLink(const std::string &id, const std::string &what, const CalibrationFactor &part, auto &&isMeant,
        const Link &inside, const Link &between)
    {
        const bool isBetween = part.what == CalibratedPart::Fabric;
        const auto factor = [&](const std::vector<CollectiveSample> &samples) {
            return factorOf(fitLink(samples, inside, between, isBetween, m_case.options.stop), what, part);
        };
        leaveOutClashes(isMeant, what, factor);
        auto fit = factor(of(m_samples, isMeant));
        if (!fit)
            return tellWhy(what, fit.error());
        FittedFactor fitted = *std::move(fit);
        LinkClass kind;
        const Link link = calibratedLink(isBetween ? between : inside, fitted.factor, kind);
        fitted.id = id;
        const auto held = of(m_held, isMeant);
        fitted.factor.errorBefore = errorOf(held, inside, between);
        fitted.factor.errorAfter = isBetween ? errorOf(held, inside, link) : errorOf(held, link, between);
        m_case.propose(std::move(fitted));
    }

    /// How many times the bytes of a send a node pair passes meanwhile, as the plan has it: other ranks of the tensor
    /// group send their slices, other groups of the node theirs. Empty: what binds there is not the link.
    [[nodiscard]] std::optional<double> sharersOf(const CollectiveSample &send) const
    {
        const Workload &workload = m_case.workload;
        const int link = workload.links.between(send.at.datacenter, send.across->datacenter);
        if (link < 0) // then nothing of it is fitted
            return 1;
        if (limitOfPair(workload, link, send.at, *send.across).limit == WanLimit::NodeNics)
            return std::nullopt;
        const double groups =
            workload.transports[std::size_t(link)].rate.value / shareOfPair(workload, link, send.at, *send.across);
        const double tensor = workload.tensorAt(send.at);
        const double share = activationBits(*workload.plan).share();
        const bool isSlice = std::ranges::any_of(std::array { false, true }, [&](bool backward) {
            return std::abs(send.bytes * tensor / (workload.boundaryBytes(backward) * share) - 1) < kOfOneSize;
        });
        int members = 1;
        for (const PipelineClass &pipelines : workload.layout.classes)
            if (std::ranges::find(pipelines.locations, send.at) != pipelines.locations.end())
                members = std::max(members, pipelines.cellMembers);
        return groups * (isSlice ? tensor : 1) / members;
    }

    /// Sends to another datacenter: seconds ≈ latency + bytes that the node pair passes meanwhile / what it reaches.
    void addWan()
    {
        std::map<std::pair<int, int>, std::pair<std::vector<double>, std::vector<double>>> pairs;
        int byNics = 0;
        for (const CollectiveSample &sample : m_samples)
            if (sample.across && sample.operation.starts_with("send")) {
                const auto sharers = sharersOf(sample);
                if (!sharers) {
                    ++byNics;
                    continue;
                }
                auto &[bytes, seconds] = pairs[std::minmax(sample.at.datacenter, sample.across->datacenter)];
                bytes.push_back(sample.bytes * *sharers);
                seconds.push_back(sample.seconds);
            }
        if (byNics > 0)
            m_case.note(wholeText(byNics)
                + " sends between datacenters are bound by the NICs of a node in this plan: they tell nothing of the "
                  "link");
        const auto &datacenters = m_case.workload.plan->cluster.datacenters;
        for (const auto &[ends, times] : pairs) {
            const std::string a = datacenters[std::size_t(ends.first)].id, b = datacenters[std::size_t(ends.second)].id;
            const std::string what = "Sends between " + a + " and " + b;
            FittedFactor fitted { .id = wanId(*m_case.workload.plan, a, b) };
            fitted.factor.what = CalibratedPart::Wan;
            fitted.factor.between = { a, b };
            const auto line = fitAlphaBeta(times.first, times.second, m_case.options.stop);
            if (!line || line->bytesPerSecond <= 0) {
                addOfOneSize(std::move(fitted), what, ends, times.first, times.second);
                continue;
            }
            fitted.factor.latencyUs = line->latency * 1e6;
            fitted.factor.gbytesPerS = line->bytesPerSecond * 1e-9;
            fitted.factor.samples = line->samples;
            setError(fitted.factor.standardError, line->bandwidthError * 1e-9);
            setError(fitted.factor.latencyError, line->latencyError * 1e6);
            fitted.factor.r2 = line->r2;
            fitted.residual = line->residual;
            fitted.sentence = what + " reach " + bytesText(line->bytesPerSecond) + "/s (± "
                + bytesText(line->bandwidthError) + "/s; " + wholeText(line->samples) + " sends) after "
                + latencyText(line->latency * 1e6, line->latencyError * 1e6);
            m_case.note("A node pair of " + a + " and " + b
                + " passes as many sends at once as the plan has it: what all of them reach is taken for the pair");
            m_case.propose(std::move(fitted));
        }
    }

    /// Activations of a pipeline are all alike: the latency stays the link's, and what is left of the time is compared
    /// with the bytes at the plan's rate. A factor holds for the link at other rates and round trips too.
    void addOfOneSize(FittedFactor fitted, const std::string &what, std::pair<int, int> ends,
        const std::vector<double> &bytes, const std::vector<double> &seconds)
    {
        const int link = m_case.workload.links.between(ends.first, ends.second);
        if (link < 0)
            return;
        const double latency = m_case.workload.roundTripMs(link) / 2e3;
        const double rate = m_case.workload.transports[std::size_t(link)].rate.value;
        std::vector<double> modelled, measured;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (seconds[i] > latency) {
                modelled.push_back(bytes[i] / rate);
                measured.push_back(seconds[i] - latency);
            }
        const auto ratio = fitRatio(modelled, measured, m_case.options.stop);
        if (!ratio || 2 * measured.size() < bytes.size()) {
            m_case.note(what
                + " are of one size, and most of them take less than the latency of the link: nothing is "
                  "fitted");
            return;
        }
        fitted.factor.factor = ratio->factor;
        fitted.factor.samples = ratio->samples;
        fitted.factor.standardError = ratio->standardError;
        fitted.residual = ratio->residual;
        fitted.sentence = what + " take, after the latency of the link, "
            + factorText(ratio->factor, ratio->standardError) + "; " + wholeText(ratio->samples)
            + " sends of one size)";
        m_case.note(
            what + " are of one size: latency and bandwidth are not told apart, and the latency is left as it is");
        m_case.propose(std::move(fitted));
    }

    /// Why nothing would be taken of it.
    [[nodiscard]] std::string faultOf(const Expected<FittedFactor> &fitted) const
    {
        if (!fitted)
            return fitted.error().what;
        if (!fitted->refused.empty())
            return fitted->refused;
        if (!(fitted->residual <= m_case.options.mostResidual))
            return "half of its samples lie more than " + percentText(fitted->residual) + " off the line";
        return beyondWire(m_case, fitted->factor);
    }

    /// Benchmarks that tell no one link together are looked at file by file: of those that alone tell none nothing is
    /// taken, where others remain.
    void leaveOutClashes(const auto &isMeant, const std::string &what, const auto &factor)
    {
        std::map<std::uint32_t, std::vector<CollectiveSample>> files;
        const auto all = of(m_samples, isMeant);
        for (const CollectiveSample &sample : all)
            if (sample.isBenchmark)
                files[sample.source].push_back(sample);
        if (files.size() < 2 || faultOf(factor(all)).empty())
            return;
        std::map<std::uint32_t, std::string> faults;
        std::string names;
        for (const auto &[source, samples] : files) {
            const auto &sources = m_case.run.recording->sources;
            const std::string name = source < sources.size() ? sources[source].file : "a benchmark";
            names += (names.empty() ? "" : ", ") + name;
            if (const std::string fault = faultOf(factor(samples)); !fault.empty())
                faults[source] = name + ": " + fault;
        }
        if (faults.empty() || faults.size() == files.size())
            return m_case.note(what + ": " + names + " tell different links; calibrate with one of them");
        for (const auto &[source, fault] : faults)
            m_case.note(what + ": nothing is taken of " + fault);
        for (std::vector<CollectiveSample> *samples : { &m_samples, &m_held })
            std::erase_if(*samples, [&](const CollectiveSample &sample) {
                return sample.isBenchmark && faults.contains(sample.source) && isMeant(sample);
            });
    }

    [[nodiscard]] static Expected<FittedFactor> factorOf(
        const Expected<LinkFit> &found, const std::string &what, CalibrationFactor about)
    {
        if (!found)
            return std::unexpected(found.error());
        const LinkFit &fit = *found;
        FittedFactor fitted;
        fitted.factor = std::move(about);
        fitted.factor.latencyUs = fit.latencyUs;
        fitted.factor.gbytesPerS = fit.gbytesPerS;
        fitted.factor.factor = fit.factor;
        fitted.factor.samples = fit.samples;
        setError(fitted.factor.standardError, fit.error);
        setError(fitted.factor.latencyError, fit.latencyError);
        fitted.factor.r2 = fit.r2;
        fitted.residual = fit.residual;
        fitted.sentence = fit.factor
            ? what + " take " + factorText(*fit.factor, fit.error) + "; " + wholeText(fit.samples) + " of one size)"
            : what + " reach " + plainText(*fit.gbytesPerS) + " GB/s a GPU (± " + plainText(fit.error) + "; "
                + wholeText(fit.samples) + " collectives)"
                + (fit.latencyUs ? " after " + latencyText(*fit.latencyUs, fit.latencyError)
                                 : "; the latency is left as it is");
        if (4 * fit.outliers > fit.samples)
            fitted.refused =
                std::to_string(fit.outliers) + " of its " + std::to_string(fit.samples) + " samples lie off the line";
        return fitted;
    }

    void tellWhy(const std::string &what, const Error &error)
    {
        m_case.note(what + " are not fitted: " + error.what + (error.right.empty() ? "" : "; needed: " + error.right));
    }

    CalibrationCase &m_case;
    std::vector<CollectiveSample> m_samples, m_held;
    std::list<LinkClass> m_kinds; // of insideOf
};

} // namespace

void addLinkFactors(CalibrationCase &of)
{
    LinkFactors(of).add();
}

} // namespace trainyard
