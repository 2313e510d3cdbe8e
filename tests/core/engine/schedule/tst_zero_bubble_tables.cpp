// SPDX-License-Identifier: GPL-3.0-or-later
// The bubble rates that Qi et al. 2023 (arXiv 2401.10241) publish for their schedules, read in place where they are,
// and rows of ours in the same form, whose rates follow from the formulas of their paper.
#include "tests/core/engine/schedule/split_backward.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <fstream>

using namespace split_backward;
using nlohmann::json;

class ZeroBubbleTables : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void tableFiveFollowsFromTableNine_data();
    void tableFiveFollowsFromTableNine();
    void tableEightForTheSameTimes_data();
    void tableEightForTheSameTimes();

private:
    void addRows(const char *table);

    json m_rows;
};

namespace {

/// Without transfers: of m (t_f + t_b + t_w) of work a bubble of (p - 1) times t_f + t_b + t_w, + t_b - t_w or
/// + t_b - 2 t_w. ZB-V has none where times are equal.
json ownRow(const char *table, int p, int m, const Split &t)
{
    const double all = t.forward + t.inputGrad + t.weightGrad;
    const auto rate = [&](double bubble) { return (p - 1) * bubble / (m * all + (p - 1) * bubble); };
    const double h2 = t.forward + t.inputGrad - 2 * t.weightGrad;
    json rates { { "1F1B", rate(all) }, { "ZB-H1", rate(t.forward + t.inputGrad - t.weightGrad) },
        { "ZB-H2", rate(h2) } };
    if (h2 == 0)
        rates.update({ { "ZB-2p", 0 }, { "ZB-V", 0 } });
    return { { "table", table },
        { "model", { { "name", "own" }, { "heads", 16 }, { "seq", 1024 }, { "hidden", 2048 } } },
        { "parallel", { { "pp", p }, { "num_microbatches", m } } },
        { "inputs_ms", { { "t_f", t.forward }, { "t_b", t.inputGrad }, { "t_w", t.weightGrad }, { "t_comm", 0 } } },
        { "metrics", { { "bubble_rate", rates } } } };
}

} // namespace

void ZeroBubbleTables::initTestCase()
{
    m_rows = json::array({ ownRow("9+5", 4, 12, { 1, 1, 1, 0 }), ownRow("9+5", 8, 24, { 1, 1, 1, 0 }),
        ownRow("9+5", 8, 32, { 2, 2.4, 1.4, 0 }), ownRow("8", 4, 16, { 1, 1, 1, 0 }),
        ownRow("8", 8, 48, { 1, 1, 1, 0 }) });
    if (std::ifstream file(TRAINYARD_SHARED_DIR "/validation/test/zero_bubble_2401.10241.json"); file)
        for (json &row : json::parse(file).at("rows"))
            m_rows.push_back(std::move(row));
}

void ZeroBubbleTables::addRows(const char *table)
{
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i]["table"] == table)
            QTest::addRow("%s p=%d m=%d", m_rows[i]["model"]["name"].get<std::string>().c_str(),
                m_rows[i]["parallel"]["pp"].get<int>(), m_rows[i]["parallel"]["num_microbatches"].get<int>())
                << static_cast<int>(i);
}

void ZeroBubbleTables::tableFiveFollowsFromTableNine_data()
{
    addRows("9+5");
}

void ZeroBubbleTables::tableFiveFollowsFromTableNine()
{
    // Table 5 from the times of Table 9, to its four digits; memory limits p and 2p for the automatic schedules, with
    // M_W = 32sbh of M_B = (34 + 5as/h)sbh.
    QFETCH(int, row);
    const json &r = m_rows[static_cast<std::size_t>(row)];
    const json &inputs = r["inputs_ms"], &rates = r["metrics"]["bubble_rate"], &model = r["model"];
    const int p = r["parallel"]["pp"], m = r["parallel"]["num_microbatches"];
    const Split t { inputs["t_f"], inputs["t_b"], inputs["t_w"], inputs["t_comm"] };
    ScheduleTimes times = timesOf(p, t);
    times.keptForWeightGrad =
        32 / (34 + 5 * model["heads"].get<double>() * model["seq"].get<double>() / model["hidden"].get<double>());
    // An automatic schedule that no row tells of is at least as good as the one by hand
    const auto compare = [&](const char *name, ScheduleKind kind, std::vector<int> limit, const char *byHand = "") {
        const Outcome result = outcome(make(kind, { p, m, 1, limit }, times), times);
        const double rate = bubbleRate(result, t, m);
        if (!rates.contains(name)) {
            QVERIFY(rate >= 0 && rate <= rates[byHand].get<double>() + 1e-9 && result.peak <= limit.front() + 1e-9);
            return;
        }
        const double expected = rates[name].get<double>();
        QVERIFY2(std::abs(rate - expected) <= 0.5001e-4,
            qPrintable(QString("%1: %2, paper %3").arg(name).arg(rate).arg(expected)));
        if (!limit.empty())
            QVERIFY(result.peak <= limit.front() + 1e-9);
    };
    compare("1F1B", ScheduleKind::OneFOneB, {});
    compare("ZB-H1", ScheduleKind::ZbH1, {});
    compare("ZB-H2", ScheduleKind::ZbH2, {});
    compare("ZB-1p", ScheduleKind::ZbAuto, { p }, "ZB-H1");
    compare("ZB-2p", ScheduleKind::ZbAuto, { 2 * p }, "ZB-H2");
}

void ZeroBubbleTables::tableEightForTheSameTimes_data()
{
    addRows("8");
}

void ZeroBubbleTables::tableEightForTheSameTimes()
{
    // Table 8 has no times. t_b/t_f is the mean of the model's in Table 9; t_w/t_f and t_comm/t_f are what gives the
    // row's rates of 1F1B and ZB-H1. Then ZB-H2 and ZB-V are predictions: ZB-V is exact for 6.2B and 6 to 7 % too low
    // for the rest.
    struct Fit {
        const char *model;
        int microBatches;
        Split times;
    };
    static const Fit kFits[] = { { "own", 16, { 1, 1, 1, 0 } }, { "own", 48, { 1, 1, 1, 0 } },
        { "6.2B", 48, { 1, 0.9892, 0.6682, 0.0555 } }, { "6.2B", 64, { 1, 0.9892, 0.6692, 0.0559 } },
        { "6.2B", 128, { 1, 0.9892, 0.6702, 0.0562 } }, { "14.6B", 72, { 1, 0.9950, 0.7630, 0.0548 } },
        { "14.6B", 96, { 1, 0.9950, 0.7617, 0.0548 } }, { "14.6B", 192, { 1, 0.9950, 0.7620, 0.0558 } },
        { "28.3B", 96, { 1, 0.9817, 0.7516, 0.0453 } }, { "28.3B", 128, { 1, 0.9817, 0.7541, 0.0461 } },
        { "28.3B", 256, { 1, 0.9817, 0.7457, 0.0459 } } };
    QFETCH(int, row);
    const json &r = m_rows[static_cast<std::size_t>(row)], &rates = r["metrics"]["bubble_rate"];
    const int p = r["parallel"]["pp"], m = r["parallel"]["num_microbatches"];
    const auto fit =
        std::ranges::find_if(kFits, [&](const Fit &f) { return r["model"]["name"] == f.model && m == f.microBatches; });
    QVERIFY(fit != std::end(kFits));
    const Split whole = fit->times,
                half { whole.forward / 2, whole.inputGrad / 2, whole.weightGrad / 2, whole.boundary };
    const auto rate = [&](ScheduleKind kind) {
        const ScheduleTimes times = timesOf(p, whole);
        return bubbleRate(outcome(make(kind, { p, m, 1, {} }, times), times), whole, m);
    };
    const auto near = [&](ScheduleKind kind, const char *name) {
        return std::abs(rate(kind) - rates[name].get<double>()) < 1.5e-4;
    };
    QVERIFY(near(ScheduleKind::OneFOneB, "1F1B"));
    QVERIFY(near(ScheduleKind::ZbH1, "ZB-H1"));
    QVERIFY(near(ScheduleKind::ZbH2, "ZB-H2"));
    const ScheduleTimes times = timesOf(2 * p, half);
    const double zbV = bubbleRate(outcome(make(ScheduleKind::ZbV, { p, m, 2, {} }, times), times), half, m, 2),
                 paper = rates["ZB-V"];
    const bool isExact = r["model"]["name"] == "6.2B" || r["model"]["name"] == "own";
    const double low = isExact ? paper - 1e-4 : 0.93 * paper;
    QVERIFY2(zbV > low && zbV < paper + 1e-4, qPrintable(QString("%1, paper %2").arg(zbV).arg(paper)));
}

TRAINYARD_APPLESS_TEST(ZeroBubbleTables)
#include "tst_zero_bubble_tables.moc"
