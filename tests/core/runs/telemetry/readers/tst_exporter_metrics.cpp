// SPDX-License-Identifier: GPL-3.0-or-later
// What exporters of GPUs call their metrics, by version and maker, and whose they are.
#include "core/runs/telemetry/readers/exporter_metrics.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::readers;

namespace {

/// Name and place that samples of a metric go to.
std::string seriesOf(std::string_view metric, const MetricLabels &labels)
{
    const SourceText text { "test", "", 0, false };
    RecordingBuilder builder(text, SourceKind::Recording);
    MetricSeries series(builder);
    const auto &known = series.of(metric, labels);
    const SampleSeries &made = builder.recording().series.at(known.series);
    return made.name.text() + " of " + made.where.text();
}

} // namespace

class TestExporterMetrics : public QObject {
    Q_OBJECT
private slots:
    void bothNamesOfAFieldAreOne()
    {
        for (const auto &[older, newer] : dcgmRenamedFields())
            QCOMPARE(exporterMetricNamed(newer).name, exporterMetricNamed(older).name);
        QCOMPARE(exporterMetricNamed("DCGM_FI_DEV_XID_ERROR").name, std::string("prometheus.DCGM_FI_DEV_XID_ERRORS"));
        QCOMPARE(exporterMetricNamed("DCGM_FI_DEV_ROW_REMAP_FAILED").name,
            std::string("prometheus.DCGM_FI_DEV_ROW_REMAP_FAILURE"));
    }

    void theMakerBeforeANameChangesNothing()
    {
        for (const char *name :
            { "gpu_junction_temperature", "gpu_ecc_uncorrect_total", "gpu_health", "gpu_used_vram" })
            QCOMPARE(exporterMetricNamed(std::string("amd_") + name).name, exporterMetricNamed(name).name);
    }

    /// Of AMD's clocks the system's are those of compute units; each die has one.
    void clocksOfComputeUnitsAreToldFromOthers()
    {
        const auto clock = [](const char *metric, const char *type, const char *index) {
            return seriesOf(metric,
                { { "__name__", metric }, { "gpu_id", "3" }, { "hostname", "n1" }, { "clock_type", type },
                    { "clock_index", index } });
        };
        QCOMPARE(clock("gpu_clock", "system", "2"), std::string("sm_clock of n1/gpu3{clock_index=2}"));
        QCOMPARE(
            clock("amd_gpu_clock", "GPU_CLOCK_TYPE_SYSTEM", "2"), std::string("sm_clock of n1/gpu3{clock_index=2}"));
        QVERIFY(clock("gpu_clock", "memory", "8").starts_with("prometheus.gpu_clock of n1/gpu3{"));
    }

    void theSmiExporterNamesGpusByItsMetrics()
    {
        QCOMPARE(seriesOf("amd_gpu_SCLK_MHz", { { "gpu_SCLK", "5" }, { "instance", "n7:2021" } }),
            std::string("sm_clock of n7/gpu5"));
        QCOMPARE(seriesOf("amd_gpu_current_temperature_Celcius",
                     { { "gpu_current_temperature", "0" }, { "instance", "n7:2021" } }),
            std::string("temperature of n7/gpu0"));
        QCOMPARE(exporterMetricNamed("amd_gpu_SCLK_MHz").factor, 1e6);
        QCOMPARE(exporterMetricNamed("amd_gpu_use_percent").factor, 0.01);
    }

    /// An XID's own labels tell what it says, not whose it is.
    void anXidIsOneSeriesWhateverItSays()
    {
        const auto of = [](const char *code) {
            return seriesOf("DCGM_FI_DEV_XID_ERRORS",
                { { "gpu", "0" }, { "Hostname", "n1" }, { "err_code", code }, { "err_msg", "words" } });
        };
        QCOMPARE(of("0"), std::string("prometheus.DCGM_FI_DEV_XID_ERRORS of n1/gpu0"));
        QCOMPARE(of("79"), of("0"));
    }
};

TRAINYARD_APPLESS_TEST(TestExporterMetrics)
#include "tst_exporter_metrics.moc"
