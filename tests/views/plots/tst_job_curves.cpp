// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/job_evaluation.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/plots/curves_panel.h"
#include "views/plots/job_curves.h"
#include "views/plots/job_progress_plot.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/job_colors.h"

#include <QComboBox>
#include <QTest>

using namespace trainyard;

class JobCurvesTest : public QObject {
    Q_OBJECT
private slots:
    void progressCountsTheUnitsThatHaveEnded()
    {
        const EvaluationPtr evaluation = test::jobEvaluation();
        const Timeline &t = evaluation->timeline;
        constexpr int kBuckets = 40;
        const std::vector<JobProgress> progress = jobProgress(*evaluation, kBuckets);
        QCOMPARE(progress.size(), std::size_t(6));
        for (const JobProgress &of : progress) {
            for (int b = 0; b < kBuckets; ++b) {
                // done(t) = units of the job whose end <= t ÷ all of its units
                int ended = 0, all = 0;
                for (std::uint32_t span = 0; span < t.spanCount(); ++span)
                    if (jobOfSpan(*evaluation, span) == of.job && t.tracks[t.trackOf[span]].stream == Stream::Compute) {
                        ++all;
                        ended += double(t.end[span]) <= double(t.duration) * (b + 1) / kBuckets + 1e-6;
                    }
                QVERIFY(std::abs(of.done[std::size_t(b)] - double(ended) / all) < 1e-12);
            }
            QCOMPARE(of.done.back(), 1.0);
        }
    }

    void pausedJobsMakeNoProgress()
    {
        test::JobShape shape;
        shape.pausedJob = 0;
        for (const JobProgress &of : jobProgress(*test::jobEvaluation(shape), 16))
            QVERIFY(of.job != 0);
    }

    void hostsKeepTheirPeaks()
    {
        const EvaluationPtr evaluation = test::jobEvaluation({ .gpus = 2, .datacenters = 2 });
        for (const int buckets : { 1, 2, 1000 }) {
            const std::vector<HostCurve> curves = hostCurves(*evaluation, buckets);
            QCOMPARE(curves.size(), std::size_t(2));
            QCOMPARE(curves[1].name, QStringLiteral("Iowa"));
            double peak = 0;
            for (const MemoryPoint &point : curves[0].points)
                peak = std::max(peak, point.bytes);
            QCOMPARE(peak, 300e9);
            QCOMPARE(curves[0].capacity, 500e9);
        }
    }

    void tabsOfJobsComeAndGoWithThem()
    {
        CurvesPanel panel;
        panel.resize(1000, 200);
        panel.show();
        panel.setShown(shownOf(test::sampleEvaluation()));
        QVERIFY(!panel.isTabShown(CurvesPanel::Tab::Progress) && !panel.isTabShown(CurvesPanel::Tab::Hosts));
        QVERIFY(panel.isTabShown(CurvesPanel::Tab::Wan));
        panel.setTab(CurvesPanel::Tab::Wan);
        panel.setShown(shownOf(test::jobEvaluation()));
        QVERIFY(panel.isTabShown(CurvesPanel::Tab::Progress) && panel.isTabShown(CurvesPanel::Tab::Hosts));
        QVERIFY(!panel.isTabShown(CurvesPanel::Tab::Wan));
        QCOMPARE(panel.currentPlot(), panel.plot(CurvesPanel::Tab::Progress));
        const auto *stages = panel.findChild<QComboBox *>();
        QCOMPARE(stages->itemText(1), QStringLiteral("Every GPU"));
        QCOMPARE(stages->itemText(2), QStringLiteral("GPU 0"));
        panel.setShown(shownOf(test::sampleEvaluation()));
        QCOMPARE(panel.currentPlot(), panel.plot(CurvesPanel::Tab::Utilization));
        QCOMPARE(stages->itemText(2), QStringLiteral("Stage 1"));
    }

    void theChosenJobStandsOut()
    {
        CurvesPanel panel;
        panel.resize(1000, 200);
        panel.show();
        panel.setShown(shownOf(test::jobEvaluation()));
        panel.setTab(CurvesPanel::Tab::Progress);
        panel.setJob(2);
        QCustomPlot &chart = panel.plot(CurvesPanel::Tab::Progress)->chart();
        QCOMPARE(chart.graphCount(), 6);
        QCOMPARE(chart.graph(5)->pen().color(), jobColor(2)); // in front
        QVERIFY(chart.graph(0)->pen().color().alpha() < 255);
        QCOMPARE(panel.currentPlot()->legend().size(), std::size_t(1));
    }

    void chartsOfJobsSpeakOfGpus()
    {
        CurvesPanel panel;
        panel.resize(1000, 200);
        panel.show();
        panel.setShown(shownOf(test::jobEvaluation()));
        for (const auto tab : { CurvesPanel::Tab::Utilization, CurvesPanel::Tab::MemoryOverTime,
                 CurvesPanel::Tab::Hosts, CurvesPanel::Tab::Progress }) {
            panel.setTab(tab);
            CurvePlot *plot = panel.plot(tab);
            plot->setStage(-2);
            (void)plot->chart();
            QString words = plot->note();
            for (const auto &entry : plot->legend())
                words += entry.name;
            QVERIFY2(!words.contains(QStringLiteral("stage")) && !words.contains(QStringLiteral("iteration")),
                qPrintable(words));
            QVERIFY(!words.isEmpty());
            QVERIFY(plot->toTsv().count(u'\n') > 3);
        }
    }
};

TRAINYARD_TEST(JobCurvesTest)
#include "tst_job_curves.moc"
