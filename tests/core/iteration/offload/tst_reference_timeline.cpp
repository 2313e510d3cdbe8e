// SPDX-License-Identifier: GPL-3.0-or-later
// The offload engine against rows of ours, whose times follow from a few sums, and, where they are, 18 rows of an
// independent simulator (ssdtrain.json, "reference offload timeline"): two modules a layer, one layer ahead. Its rules
// differ in three things, which are told to the graph: the first layer of a backward is loaded on demand, queued stores
// are dropped when it starts, and one that runs goes on to its end.
#include "core/iteration/offload/ssd_life.h"
#include "tests/core/iteration/offload/reference_case.h"
#include "tests/support/test_program.h"

#include <QFile>

#include <nlohmann/json.hpp>

using namespace offload;
using nlohmann::json;

class TstReferenceTimeline : public QObject {
    Q_OBJECT

    static std::vector<json> rows(const char *figure)
    {
        QFile file(QStringLiteral(TRAINYARD_SHARED_DIR "/validation/test/ssdtrain.json"));
        std::vector<json> found;
        if (!file.open(QIODevice::ReadOnly))
            return found;
        const json all = json::parse(file.readAll().toStdString());
        for (const json &row : all["rows"])
            if (row["figure"] == figure)
                found.push_back(row);
        return found;
    }

    /// Drives so fast that each module has left before the next is made. Everything leaves but the last module, which
    /// is needed at once; the load of the one before it (9 s b h bytes) shows, and all others hide behind backwards.
    static json ownRow(double h, double L, double b, double rate)
    {
        const double s = 1024, flops = 0.6 * 312e12 * 765 / 1410;
        const double forward = L * (24 * b * s * h * h + 4 * b * s * s * h) / 2 / flops, all = 22 * L * s * b * h,
                     last = 13 * s * b * h, shown = 9 * s * b * h / rate;
        const QString name = QStringLiteral("BERT-like h=%1 L=%2 b=%3").arg(h).arg(L).arg(b);
        return { { "computed",
            { { "case", name.toStdString() }, { "bw", rate }, { "keep_from", int(2 * L) }, { "step_keep", 3 * forward },
                { "step_offload", 3 * forward + shown }, { "stall", shown }, { "peak_keep_GB", all * 1e-9 },
                { "written_GB", (all - last) * 1e-9 }, { "read_GB", (all - last) * 1e-9 },
                { "forwarded_GB", last * 1e-9 },
                { "required_write_GBps_act_over_half_step", all / (1.5 * forward) * 1e-9 } } } };
    }

    static Case caseOf(const json &row)
    {
        Case c;
        int h = 0, l = 0, b = 0;
        if (std::sscanf(row["case"].get<std::string>().c_str(), "BERT-like h=%d L=%d b=%d", &h, &l, &b) != 3)
            qFatal("an unknown case");
        c.hidden = h;
        c.layers = l;
        c.microBatch = b;
        c.writeRate = c.readRate = row["bw"].get<double>();
        return c;
    }

    /// Modules whose store begins before the backward does: stores queue behind each other, from the end of their
    /// forward on.
    static std::size_t begun(const Case &c, std::size_t firstKept)
    {
        StageOffload bytes;
        const IterationCosts costs = costsOf(c, firstKept, bytes);
        const PipelineCosts &pipeline = costs.classes.front();
        Nanoseconds made = 0, free = 0;
        for (std::size_t module = 0; module < firstKept; ++module) {
            const OffloadSegment &segment = pipeline.offload.ops.front()[module];
            made += segment.forward;
            if (std::max(made, free) >= pipeline.ops.front().forward)
                return module;
            free = std::max(made, free) + segment.store;
        }
        return firstKept;
    }

    /// One pipeline of one stage: forwards, backwards, then stores and loads, last module first. A load is asked for at
    /// the end of the task before the layer above begins its backward or, where nothing of that leaves, its own.
    static void loadOnDemand(TaskGraph &graph, const Case &c, std::size_t firstKept, std::size_t leaving)
    {
        const auto modules = std::size_t(2 * c.layers);
        const std::size_t last = std::min(firstKept, modules - 1) - 1; // the last of all is needed at once
        const auto loads =
            std::ranges::find(graph.resources, Stream::Load, [](const Resource &r) { return r.track.stream; });
        QCOMPARE(std::size_t(loads->track.last - loads->track.first), leaving);
        for (std::size_t module = leaving; module-- > 0;) {
            const std::size_t layer = module / 2, asks = std::min(last, 2 * layer + (layer < last / 2 ? 3 : 1));
            const std::size_t load = loads->track.first + leaving - 1 - module, backward = 2 * modules - 1 - asks;
            QCOMPARE(graph.predBegin[load + 1] - graph.predBegin[load], 1u);
            graph.pred[graph.predBegin[load]] = std::uint32_t(backward - 1);
        }
    }

private slots:
    void theIndependentSimulatorGivesTheSame()
    {
        std::vector<json> all = rows("reference offload timeline");
        QVERIFY(all.empty() || all.size() == 18);
        all.insert(all.end(),
            { ownRow(8192, 4, 4, 40e9), ownRow(8192, 4, 4, 100e9), ownRow(12288, 3, 8, 60e9),
                ownRow(16384, 2, 4, 30e9) });
        for (const json &row : all) {
            const json &want = row["computed"];
            const Case c = caseOf(want);
            const std::size_t kept = firstKept(c), leaving = begun(c, kept);
            StageOffload bytes;
            TaskGraph graph = graphOf(c, leaving, bytes);
            loadOnDemand(graph, c, kept, leaving);
            graph.events = eventTopologyOf(graph);
            const Run run = offload::run(graph, bytes, c);
            double dropped = 0;
            for (std::size_t module = leaving; module < kept; ++module)
                dropped += modules(c)[module].bytes;
            const double unwritten = run.live.use.dropped; // of the store that ran, which there goes on
            const auto near = [&](const char *key, double value, double tolerance) {
                if (!want.contains(key))
                    return;
                QVERIFY2(isNear(value, want[key].get<double>(), tolerance),
                    qPrintable(QStringLiteral("%1, %2: %3 instead of %4")
                                   .arg(want["case"].get<std::string>().c_str(), key)
                                   .arg(value)
                                   .arg(want[key].get<double>())));
            };
            QCOMPARE(int(kept), want["keep_from"].get<int>());
            const double gb = 1e-9, half = 6e-4; // the rows have three digits behind the point
            near("step_offload", run.step(), 6e-5);
            near("stall", run.step() - want["step_keep"].get<double>(), 1.1e-4);
            near("peak_keep_GB", run.live.peakWhole * gb, half);
            near("peak_offload_GB", run.live.peak * gb, half);
            near("written_GB", (run.live.use.written + unwritten) * gb, half);
            near("read_GB", run.live.use.read * gb, half);
            // The rows count the last module, which stays, and dropped stores as forwarded.
            near("forwarded_GB", (run.live.use.forwarded + unwritten + dropped) * gb, half);
            near("reduction", 1 - run.live.peak / run.live.peakWhole, half);
            near("required_write_GBps_act_over_half_step",
                requiredWriteBandwidth(Bytes { run.live.peakWhole }, Seconds { want["step_keep"].get<double>() }).value
                    * gb,
                6e-3);
            Case keep = c;
            keep.offloads = false;
            near("step_keep", offload::run(keep).step(), 6e-5);
        }
    }

    void lifeAndBandwidthOfFigure5AreReproduced()
    {
        std::vector<json> all = rows("5 re-derivation");
        QVERIFY(all.empty() || all.size() == 12);
        // Four drives of 600 TB rated writes; JESD219 rates at 2.5 writes inside per write from outside; one day of
        // retention.
        const DriveWear wear { Bytes { 4 * 600e12 }, 2.5, 1, 86 };
        // Ours: as many bytes as the drives take, over those of a step, steps; half a step to write in
        for (const auto &[gigabytes, seconds] : { std::pair(100.0, 40.0), std::pair(250.0, 30.0) })
            all.push_back({ { "computed",
                { { "S_act_per_gpu_per_step_GB_(34sbh,SP,FlashAttn)", gigabytes }, { "t_step_s", seconds },
                    { "required_write_GBps", 2 * gigabytes / seconds },
                    { "lifetime_years_4x980PRO",
                        4 * 600e12 * 2.5 * 86 / (gigabytes * 1e9) * seconds / (365.0 * 86400) } } } });
        for (const json &row : all) {
            const json &want = row["computed"];
            const Bytes moved { want["S_act_per_gpu_per_step_GB_(34sbh,SP,FlashAttn)"].get<double>() * 1e9 };
            const Seconds step { want["t_step_s"].get<double>() };
            const double rate = want["required_write_GBps"].get<double>(),
                         years = want["lifetime_years_4x980PRO"].get<double>();
            QVERIFY(isNear(requiredWriteBandwidth(moved, step).value * 1e-9, rate,
                1.2e-2)); // of bytes and seconds with four digits
            QVERIFY2(isNear(lifetimeYears(wear, moved, step), years, 4e-3 * years),
                qPrintable(QStringLiteral("%1 years instead of %2").arg(lifetimeYears(wear, moved, step)).arg(years)));
        }
    }
};

TRAINYARD_APPLESS_TEST(TstReferenceTimeline)
#include "tst_reference_timeline.moc"
