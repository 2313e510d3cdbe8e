// SPDX-License-Identifier: GPL-3.0-or-later
// What tools measured by themselves: iperf3 of a node pair, fio of a node's drives, copies between a GPU and its host.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

namespace trainyard {

namespace {

struct Figure {
    double value = 0, error = 0, residual = 0;
    int samples = 0;
};

/// Of measurements of one thing the median.
Figure figureOf(const std::vector<double> &values)
{
    Figure figure { .value = medianOf(values), .samples = int(values.size()) };
    const double distance = medianDistance(values, figure.value);
    figure.residual = distance / figure.value;
    if (values.size() > 2)
        figure.error = kMedianError * distance / std::sqrt(double(values.size()));
    return figure;
}

FittedFactor measured(CalibratedPart part, const Figure &figure)
{
    FittedFactor fitted;
    fitted.factor.what = part;
    fitted.factor.gbytesPerS = figure.value * 1e-9;
    fitted.factor.samples = figure.samples;
    setError(fitted.factor.standardError, figure.error * 1e-9);
    fitted.residual = figure.residual;
    return fitted;
}

std::string samplesText(const Figure &figure)
{
    return figure.samples == 1 ? "one measurement, which tells no error" : wholeText(figure.samples) + " measurements";
}

/// Whether an id stands in a name as a word of its own: "us-east" does not in "us-east-2", nor "c" in "bench".
bool namesPlace(std::string_view name, std::string_view id, const std::vector<Datacenter> &all)
{
    const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t at = name.find(id); at != std::string_view::npos; at = name.find(id, at + 1)) {
        const std::size_t end = at + id.size();
        if ((at > 0 && isWord(name[at - 1])) || (end < name.size() && isWord(name[end])))
            continue;
        const bool isOfLonger = std::ranges::any_of(all, [&](const Datacenter &other) {
            const std::size_t inside = other.id.find(id);
            return other.id.size() > id.size() && inside != std::string::npos && at >= inside
                && name.substr(at - inside).starts_with(other.id);
        });
        if (!isOfLonger)
            return true;
    }
    return false;
}

/// The one link whose ends the file's name tells, or the only one there is.
std::optional<std::size_t> linkOf(const CalibrationCase &of, std::uint32_t source)
{
    const Cluster &cluster = of.workload.plan->cluster;
    const auto &links = cluster.wanLinks;
    const std::string file = source < of.run.recording->sources.size()
        ? std::filesystem::path(of.run.recording->sources[source].file).filename().string()
        : std::string();
    std::optional<std::size_t> told;
    for (std::size_t i = 0; i < links.size(); ++i)
        if (namesPlace(file, links[i].between[0], cluster.datacenters)
            && namesPlace(file, links[i].between[1], cluster.datacenters)) {
            if (told)
                return {};
            told = i;
        }
    return told || links.size() != 1 ? told : std::optional<std::size_t>(0);
}

void addWan(CalibrationCase &of)
{
    const auto &links = of.workload.plan->cluster.wanLinks;
    std::vector<std::vector<double>> rates(links.size()), trips(links.size());
    std::size_t unplaced = 0;
    for (const BenchmarkPoint &point : of.run.recording->benchmarks) {
        if (!point.what.starts_with("tcp") || point.bytesPerSecond <= 0)
            continue;
        const auto link = linkOf(of, point.source);
        if (!link) {
            ++unplaced;
            continue;
        }
        rates[*link].push_back(point.bytesPerSecond);
        if (point.rttSeconds > 0)
            trips[*link].push_back(point.rttSeconds);
    }
    if (unplaced > 0)
        of.note("Of " + wholeText(double(unplaced)) + (unplaced == 1 ? " measurement" : " measurements")
            + " of a link (iperf3) "
            + (links.empty() ? "nothing is taken: the plan has no link between datacenters"
                             : "nobody tells which one it was: name the files after its two datacenters"));
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (rates[i].empty())
            continue;
        const Figure rate = figureOf(rates[i]);
        FittedFactor fitted = measured(CalibratedPart::Wan, rate);
        const auto &[a, b] = links[i].between;
        fitted.id = wanId(*of.workload.plan, a, b);
        fitted.factor.between = { a, b };
        if (!trips[i].empty()) {
            const Figure trip = figureOf(trips[i]);
            fitted.factor.latencyUs = trip.value * 0.5e6;
            setError(fitted.factor.latencyError, trip.error * 0.5e6);
        }
        fitted.sentence = "A node pair of " + a + " and " + b + " reaches " + bytesText(rate.value) + "/s ("
            + samplesText(rate) + ")"
            + (trips[i].empty() ? "" : ", its round trip takes " + secondsText(medianOf(trips[i])));
        of.propose(std::move(fitted), true);
    }
}

/// Every GPU type of the plan has what was measured on one machine: a benchmark does not name it.
void addOfMachines(CalibrationCase &of, CalibratedPart part, const std::vector<double> &values, const std::string &what,
    const std::string &name)
{
    if (values.empty())
        return;
    std::set<std::string> gpus;
    for (const GpuRun &run : of.workload.layout.runs)
        if (part != CalibratedPart::Drive || of.workload.pool(run.location()).ssd)
            gpus.insert(of.workload.gpu(run.location()).id);
    if (gpus.size() != 1) {
        of.note(gpus.empty() ? what + " were measured, and the plan's nodes have none"
                             : what + " were measured of one machine, and the plan has several: nobody tells which");
        return;
    }
    const Figure rate = figureOf(values);
    FittedFactor fitted = measured(part, rate);
    fitted.factor.gpu = *gpus.begin();
    fitted.id = std::string(toString(part)) + "-" + *gpus.begin();
    fitted.sentence = name + " " + bytesText(rate.value) + "/s (" + samplesText(rate) + ")";
    of.propose(std::move(fitted), true);
}

} // namespace

void addBenchmarkFactors(CalibrationCase &of)
{
    addWan(of);
    std::vector<double> writes, copies;
    double largest = 0;
    const auto &points = of.run.recording->benchmarks;
    for (const BenchmarkPoint &point : points) {
        if (isOfProbe(*of.run.recording, point.source))
            continue;
        if (point.what == "write" && point.bytesPerSecond > 0)
            writes.push_back(point.bytesPerSecond);
        if (point.what == "copy_to_host" || point.what == "copy_to_gpu")
            largest = std::max(largest, point.bytes);
    }
    // Of copies the large ones: small ones measure their start.
    for (const BenchmarkPoint &point : points)
        if (!isOfProbe(*of.run.recording, point.source) && (point.what == "copy_to_host" || point.what == "copy_to_gpu")
            && point.bytesPerSecond > 0 && point.bytes >= largest / 4)
            copies.push_back(point.bytesPerSecond);
    addOfMachines(of, CalibratedPart::Drive, writes, "Drives", "The drives of a node take");
    addOfMachines(
        of, CalibratedPart::Pcie, copies, "Copies to and from the host", "Copies between a GPU and its host move");
}

} // namespace trainyard
