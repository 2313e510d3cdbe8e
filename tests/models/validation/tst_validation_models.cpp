// SPDX-License-Identifier: GPL-3.0-or-later
// What the tables of the validation page say of a run that was made by hand.
#include "rows_by_hand.h"
#include "tests/support/test_program.h"

#include "models/validation/result_model.h"
#include "models/validation/summary_model.h"
#include "models/validation/text_table_model.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace trainyard;

class ValidationModelsTest : public QObject {
    Q_OBJECT
private:
    static Gate gate(const std::string &metric, double limit)
    {
        Gate g;
        g.title = "Alpha's gate";
        g.source = "alpha";
        g.metric = metric;
        g.limit = limit;
        return g;
    }
    static QStringList column(const QAbstractItemModel &model, int column)
    {
        QStringList texts;
        for (int r = 0; r < model.rowCount(); ++r)
            texts << model.index(r, column).data().toString();
        return texts;
    }

private slots:
    void everyModelKeepsItsPromises()
    {
        ResultModel results;
        ResultFilter filter(&results);
        SummaryModel summary;
        TextTableModel texts;
        const QAbstractItemModelTester a(&results), b(&filter), c(&summary), d(&texts);
        results.setRows(byhand::rows());
        filter.setFilter({ "alpha", {} });
        filter.sort(ResultModel::Error, Qt::DescendingOrder);
        summary.setRows(byhand::rows());
        texts.setTable(leftOutTable(*byhand::rows()));
        results.setRows(nullptr);
        summary.setRows(nullptr);
        QCOMPARE(results.rowCount() + summary.rowCount(), 0);
    }
    void aRowTellsWhatWasMeasuredAndPredicted()
    {
        ResultModel model;
        model.setRows(byhand::rows());
        QCOMPARE(model.rowCount(), 5);
        // 2.2 / 2 − 1 = +10 %
        QStringList first;
        for (int c = 0; c < ResultModel::ColumnCount; ++c)
            first << model.index(0, c).data().toString();
        QCOMPARE(first, (QStringList { "alpha", "first", "iteration_time_s", "2.00 s", "2.20 s", "+10.0 %", "" }));
        QCOMPARE(model.index(1, ResultModel::Published).data().toString(), QStringLiteral("40.0 GB"));
    }
    void aGuessedRowAndOneWithoutPredictionSaySo()
    {
        ResultModel model;
        model.setRows(byhand::rows());
        QCOMPARE(model.index(3, ResultModel::Predicted).data().toString(), QStringLiteral("–"));
        QCOMPARE(
            model.index(3, ResultModel::Remarks).data().toString(), QStringLiteral("no model is called no-such-model"));
        QCOMPARE(Tone(model.index(3, ResultModel::Remarks).data(ToneRole).toInt()), Tone::Bad);
        QCOMPARE(model.index(4, ResultModel::Remarks).data().toString(), QStringLiteral("inputs assumed"));
        QCOMPARE(Tone(model.index(4, ResultModel::Row).data(ToneRole).toInt()), Tone::Muted);
    }
    void errorsSortBySizeAndMissingOnesComeLast()
    {
        ResultModel model;
        ResultFilter filter(&model);
        model.setRows(byhand::rows());
        // |errors|: 0.10, 0.05, 0.20, none, 0.50
        filter.sort(ResultModel::Error, Qt::DescendingOrder);
        QCOMPARE(column(filter, ResultModel::Error), (QStringList { "+50.0 %", "−20.0 %", "+10.0 %", "+5.0 %", "–" }));
        filter.sort(ResultModel::Error, Qt::AscendingOrder);
        QCOMPARE(column(filter, ResultModel::Error), (QStringList { "+5.0 %", "+10.0 %", "−20.0 %", "+50.0 %", "–" }));
    }
    void wordsAndSourceFilter()
    {
        ResultModel model;
        ResultFilter filter(&model);
        model.setRows(byhand::rows());
        filter.setFilter({ "beta", {} });
        QCOMPARE(column(filter, ResultModel::Row), QStringList { "guess" });
        filter.setFilter({ {}, QStringLiteral("memory ALPHA") });
        QCOMPARE(column(filter, ResultModel::Metric), QStringList { "memory.peak_bytes" });
        filter.setFilter({ {}, QStringLiteral("no-such-model") });
        QCOMPARE(column(filter, ResultModel::Row), QStringList { "broken" });
        filter.setFilter({});
        QCOMPARE(filter.rowCount(), 5);
    }
    void theSummaryHasALineForASourceAMetricAndGuessedRows()
    {
        SummaryModel model;
        model.setRows(byhand::rows({ gate("iteration_time_s", 0.2), gate("memory.*peak_bytes", 0.02) }));
        QCOMPARE(column(model, SummaryModel::Metric),
            (QStringList { "iteration_time_s", "memory.peak_bytes", "iteration_time_s, inputs assumed" }));
        // times of alpha: three figures, mean (0.1 + 0.2) / 2 = 15 %, bias (0.1 − 0.2) / 2 = −5 %
        QCOMPARE(model.index(0, SummaryModel::Figures).data().toString(), QStringLiteral("3"));
        QCOMPARE(model.index(0, SummaryModel::Mean).data().toString(), QStringLiteral("15.0 %"));
        QCOMPARE(model.index(0, SummaryModel::Bias).data().toString(), QStringLiteral("−5.0 %"));
        QCOMPARE(model.index(0, SummaryModel::Rank).data().toString(), QStringLiteral("1.00"));
        // A row without a prediction fails its gate whatever the others reach; the memory is off by 5 % of at most 2 %.
        QCOMPARE(model.line(0).verdict, Verdict::Missed);
        QCOMPARE(model.line(1).verdict, Verdict::Missed);
        QVERIFY(model.index(1, SummaryModel::GateColumn).data().toString().contains(QStringLiteral("≤ 2")));
        QCOMPARE(model.line(2).verdict, Verdict::None);
    }
    void aGateThatIsMetIsGood()
    {
        SummaryModel model;
        model.setRows(byhand::rows({ gate("memory.*peak_bytes", 0.06) }));
        QCOMPARE(model.line(1).verdict, Verdict::Met);
        QCOMPARE(Tone(model.index(1, SummaryModel::GateColumn).data(ToneRole).toInt()), Tone::Good);
        const TextRows gates = gateTable(*byhand::rows({ gate("memory.*peak_bytes", 0.06) }));
        QCOMPARE(gates.lines.size(), std::size_t(1));
        QCOMPARE(gates.lines[0].cells.last(), QStringLiteral("met"));
    }
    void coverageIsListedByLabelWithoutEmptyLines()
    {
        auto rows = std::make_shared<ValidatedRows>(*byhand::rows());
        QVERIFY(coverageTable(*rows).lines.empty());
        const Coverage all {
            .rows = 1583, .publications = 6, .inside = 0.876, .insideAlike = 0.9, .score = 0.5, .scoreAlike = 0.6
        };
        rows->validation.coverage = { { ConfidenceLabel::SameFamily, all, {}, {} } };
        const TextRows table = coverageTable(*rows);
        QCOMPARE(table.lines.size(), std::size_t(1));
        QCOMPARE(table.lines[0].cells.mid(0, 5),
            QStringList({ QStringLiteral("same family"), QStringLiteral("all"), QStringLiteral("1,583"),
                QStringLiteral("6"), QStringLiteral("87.6 %") }));
        QCOMPARE(table.lines[0].cells.size(), table.titles.size());
    }
    void leftOutRowsAndFaultsAreListedWithReasonAndPlace()
    {
        TextTableModel model;
        model.setTable(leftOutTable(*byhand::rows()));
        QCOMPARE(model.index(0, 2).data().toString(), QStringLiteral("its inputs were not published"));
        model.setTable(faultTable({ { ErrorCode::UnknownKey, "mine.json: /rows/0/plan/colour", "no plan has colour",
            "a key of the plan" } }));
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("mine.json: /rows/0/plan/colour"));
    }
    void theOverviewCountsAndTellsTheSpread()
    {
        // Sorted sizes 5, 10, 20, 50 %: half within 10 %, nine in ten within 50 %.
        QCOMPARE(overviewText(*byhand::rows({ gate("memory.*peak_bytes", 0.06) })),
            QStringLiteral(
                "5 figures of 2 sources in 1.50 s · 1 of 1 gates met · half within 10.0 %, nine in ten within 50.0 %"));
    }
    void aRowGivesItsPlanWithAName()
    {
        const ValidatedRowsPtr rows = byhand::rows();
        const PlanPtr plan = planOf(*rows, rows->results()[2]);
        QVERIFY(plan);
        QCOMPARE(plan->workload.microBatch, 2);
        QCOMPARE(plan->name, std::string("alpha, second"));
    }
    void figuresOfOneKindShareAnAxis()
    {
        QCOMPARE(kindOfFigure("iteration_time_s"), FigureKind::Time);
        QCOMPARE(kindOfFigure("tokens_per_s_per_gpu"), FigureKind::Throughput);
        QCOMPARE(kindOfFigure("memory.per_stage[0].reserved_bytes"), FigureKind::Memory);
        QCOMPARE(kindOfFigure("mfu"), FigureKind::Share);
        QCOMPARE(kindOfFigure("breakdown_s.bubble"), FigureKind::Time);
    }
};

TRAINYARD_GUILESS_TEST(ValidationModelsTest)
#include "tst_validation_models.moc"
