// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "views/panels/number_strip.h"

#include "hand_made.h"
#include "views/panels/number_card.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class NumberStripTest : public QObject {
    Q_OBJECT
private:
    static NumberCard *card(const NumberStrip &strip, const QString &name)
    {
        for (NumberCard *c : strip.cards())
            if (c->name() == name)
                return c;
        return nullptr;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void eightNumbersInOrder()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        QStringList shown;
        for (const NumberCard *c : strip.cards())
            if (!c->isHidden())
                shown << c->name() + u'=' + c->value();
        QCOMPARE(shown,
            (QStringList { "Iteration=12.5 s", "Throughput=83.9k tok/s", "MFU=43.1 %", "GPU utilization=78.0 %",
                "Fullest GPU=71 / 80 GB", "Busiest WAN link=62.0 %", "Cost=$0.92 / Mtok", "Time to train=38 days" }));
    }

    void prefillInBubblesAddsANinthAndShowsBothUtilizations()
    {
        NumberStrip strip;
        Evaluation e = handmade::evaluation();
        e.metrics.gpuUtilization = 0.45;
        e.metrics.gpuUtilizationWithFill = 0.921;
        BubbleFillMetrics fill;
        fill.accepted = 1234;
        fill.rejected = 66;
        fill.rejectedAsFull = 60;
        fill.rejectedAsLate = 6;
        fill.groups = 4;
        fill.gpus = 32;
        fill.filledFraction = 0.856;
        fill.prefillTokensPerSecond = 45200;
        fill.ttftP50Ms = 210;
        fill.ttftP95Ms = 380;
        fill.ttftP99Ms = 560;
        fill.dedicatedTtftMs = 150;
        fill.ttftInflation = 1.4;
        fill.memoryPerGpu = 2'000'000'000;
        fill.usdPerHour = 92;
        fill.rejectedByDecode = 0;
        fill.seed = 3;
        fill.saturationRequestsPerSecond = 1054;
        fill.waiting = 12;
        fill.served = { { "llama-3-8b", 1000, 60, 200, 500 }, { "mistral-7b", 234, 6, 300, 600 } };
        e.metrics.bubbleFill = fill;
        strip.setBaseline(handmade::shared(handmade::evaluation()), QStringLiteral("your plan")); // 78 %, nothing served
        strip.setEvaluation(handmade::shared(e));
        QCOMPARE(card(strip, "GPU utilization")->value(), QStringLiteral("45 → 92 %"));
        QCOMPARE(card(strip, "GPU utilization")->difference(), QStringLiteral("+14 pt"));
        NumberCard *prefill = card(strip, "Prefill in bubbles");
        QVERIFY(!prefill->isHidden());
        QCOMPARE(prefill->value(), QStringLiteral("45.2k tok/s"));
        for (const char *fact : { "1,234 of 1,300 requests", "66 rejected (60 the gaps are taken, 6 too late)",
                 "85.6 % of their idle time", "p50 210 ms, p95 380 ms, p99 560 ms", "1.40 × the 150 ms", "worth $92",
                 "2.00 GB on each", "training is not delayed", "one draw of the arrivals, seed 3",
                 "mistral-7b: 234 accepted, 6 rejected, first token p50 300 ms", "per second are served" })
            QVERIFY2(prefill->toolTip().contains(QString::fromUtf8(fact)),
                qPrintable(QString::fromUtf8(fact) + u'\n' + prefill->toolTip()));
        QVERIFY(strip.toTsv().contains(QStringLiteral("Prefill in bubbles\t45.2k tok/s")));
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        QVERIFY(prefill->isHidden());
        QVERIFY(!strip.toTsv().contains(QStringLiteral("Prefill")));
    }

    void aPlanWithJobsShowsTheirNumbersInsteadOfAnIteration()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        QVERIFY(!card(strip, "Iteration")->isHidden() && card(strip, "All jobs")->isHidden());
        Evaluation e = handmade::evaluation();
        e.metrics.iterationTime.reset();
        JobMetrics jobs;
        jobs.makespan = 80;
        jobs.bound = 64;
        jobs.boundShared = 64;
        jobs.boundLongest = 50;
        jobs.gpuUtilization = 0.81;
        jobs.usd = 12.5;
        jobs.hostPeak = 300'000'000'000;
        jobs.hosts = { { 0, 0, 0, 512e9, 300'000'000'000, {} } };
        e.metrics.jobs = jobs;
        Evaluation before = e;
        before.metrics.jobs->makespan = 100;
        strip.setBaseline(handmade::shared(before), QStringLiteral("your plan"));
        strip.setEvaluation(handmade::shared(e));
        QStringList shown;
        for (const NumberCard *c : strip.cards())
            if (!c->isHidden())
                shown << c->name() + u'=' + c->value();
        // 80 / 64 - 1 = 25 %
        QCOMPARE(shown,
            (QStringList { "All jobs=80.0 s", "Bound=64.0 s", "Above the bound=25.0 %", "GPUs at work=81.0 %",
                "Fullest host=300 / 512 GB", "Price=$12.5" }));
        QCOMPARE(card(strip, "All jobs")->difference(), QStringLiteral("−20.0 %"));
        QCOMPARE(card(strip, "All jobs")->differenceInk(), Ink::Good);
        QVERIFY(card(strip, "Bound")->toolTip().contains(QStringLiteral("the compute of the longest job 50.0 s")));
        QVERIFY(!strip.toTsv().contains(QStringLiteral("Iteration")));
        strip.setEvaluation(nullptr); // it failed: dashes where the numbers were
        QVERIFY(!card(strip, "All jobs")->isHidden() && card(strip, "Iteration")->isHidden());
        QCOMPARE(card(strip, "All jobs")->value(), QStringLiteral("—"));
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        QVERIFY(!card(strip, "Iteration")->isHidden() && card(strip, "All jobs")->isHidden());
    }

    void aNumberThatDoesNotApplyIsADash()
    {
        NumberStrip strip;
        for (const NumberCard *c : strip.cards())
            QCOMPARE(c->value(), QStringLiteral("—"));
        Evaluation e = handmade::evaluation();
        e.metrics.wanLinks.clear();
        e.metrics.cost = {};
        e.metrics.memory.reset();
        strip.setEvaluation(handmade::shared(e));
        for (const char *name : { "Fullest GPU", "Busiest WAN link", "Cost", "Time to train" })
            QCOMPARE(card(strip, name)->value(), QStringLiteral("—"));
        QCOMPARE(card(strip, "Iteration")->value(), QStringLiteral("12.5 s"));
    }

    void aShorterIterationIsGoodAndLowerThroughputIsBad()
    {
        NumberStrip strip;
        strip.setBaseline(handmade::shared(handmade::evaluation(12.5)), QStringLiteral("your plan"));
        Evaluation e = handmade::evaluation(10);
        e.metrics.tokensPerSecond = 128.0 * 8192 / 12.5 * 0.9;
        e.metrics.mfu = 0.47;
        strip.setEvaluation(handmade::shared(e));
        // 10 / 12.5 − 1 = −20 %
        QCOMPARE(card(strip, "Iteration")->difference(), QStringLiteral("−20.0 %"));
        QCOMPARE(card(strip, "Iteration")->differenceInk(), Ink::Good);
        QCOMPARE(card(strip, "Throughput")->difference(), QStringLiteral("−10.0 %"));
        QCOMPARE(card(strip, "Throughput")->differenceInk(), Ink::Bad);
        QCOMPARE(card(strip, "MFU")->difference(), QStringLiteral("+3.9 pt"));
        QCOMPARE(card(strip, "MFU")->differenceInk(), Ink::Good);
    }

    void memoryIsNeitherGoodNorBadUntilItOverflows()
    {
        NumberStrip strip;
        strip.setBaseline(handmade::shared(handmade::evaluation()), QStringLiteral("your plan"));
        Evaluation e = handmade::evaluation();
        e.metrics.memory->perStage[0] = handmade::memory(0, 84);
        e.metrics.memory->fits = false;
        strip.setEvaluation(handmade::shared(e));
        QCOMPARE(card(strip, "Fullest GPU")->difference(), QStringLiteral("+13 GB"));
        QCOMPARE(card(strip, "Fullest GPU")->differenceInk(), Ink::Muted);
        QCOMPARE(card(strip, "Fullest GPU")->value(), QStringLiteral("84 / 80 GB"));
    }

    void anEqualBaselineShowsNoDifference()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        strip.setBaseline(handmade::shared(handmade::evaluation()), QStringLiteral("your plan"));
        for (const NumberCard *c : strip.cards())
            QVERIFY(c->difference().isEmpty());
    }

    /// One pair of differences, and it is said against what: once beside a number, and in every tooltip.
    void differencesSayAgainstWhat()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation(10)));
        strip.setBaseline(handmade::shared(handmade::evaluation(12.5)), QStringLiteral("your plan"));
        QCOMPARE(card(strip, "Iteration")->againstText(), QStringLiteral("vs your plan"));
        QVERIFY(card(strip, "Iteration")->toolTip().contains(QStringLiteral("−20.0 % against your plan.")));
        QVERIFY(card(strip, "Iteration")->accessibleName().endsWith(QStringLiteral("−20.0 % against your plan")));
        for (const NumberCard *c : strip.cards())
            QVERIFY(c == card(strip, "Iteration") || c->againstText().isEmpty());
        strip.setBaseline(handmade::shared(handmade::evaluation(12.5)), QStringLiteral("baseline"));
        QCOMPARE(card(strip, "Iteration")->againstText(), QStringLiteral("vs baseline"));
        strip.setBaseline(handmade::shared(handmade::evaluation(10)), QStringLiteral("baseline"));
        QVERIFY(card(strip, "Iteration")->againstText().isEmpty()); // nothing differs
    }

    void aClickCopiesTheValue()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        strip.resize(1280, 60);
        strip.show();
        QTest::mouseClick(card(strip, "Cost"), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("$0.92 / Mtok"));
    }

    void theContextMenuPins()
    {
        NumberStrip strip;
        strip.resize(1280, 60);
        strip.show();
        QSignalSpy pinned(&strip, &NumberStrip::baselinePinRequested);
        QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(20, 20), strip.mapToGlobal(QPoint(20, 20)));
        QApplication::sendEvent(&strip, &event);
        QMenu *menu = strip.findChild<QMenu *>();
        QVERIFY(menu);
        menu->actions().first()->trigger();
        QCOMPARE(pinned.count(), 1);
    }

    void everyCardSpeaksItsNameValueAndDefinition()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        for (const NumberCard *c : strip.cards()) {
            QVERIFY(c->accessibleName().contains(c->name()) && c->accessibleName().contains(c->value()));
            QVERIFY(c->toolTip().contains(c->accessibleDescription().toHtmlEscaped()));
        }
    }

    void staleNumbersAreDimmed()
    {
        NumberStrip strip;
        strip.setEvaluation(handmade::shared(handmade::evaluation()));
        strip.resize(1280, 60);
        const QImage fresh = strip.grab().toImage();
        strip.setStale(true);
        QVERIFY(strip.grab().toImage() != fresh);
        strip.setStale(false);
        QCOMPARE(strip.grab().toImage(), fresh);
    }
};

TRAINYARD_TEST(NumberStripTest)
#include "tst_number_strip.moc"
