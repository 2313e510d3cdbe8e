// SPDX-License-Identifier: GPL-3.0-or-later
// Every schedule's row of traits tells the truth about the orders that its generator makes: what is counted and
// simulated here knows nothing of the row. The plan file's page has the table that the command line prints.
#include "tests/core/engine/schedule/split_backward.h"
#include "tests/support/test_program.h"

#include "core/evaluation/report/catalogue_listing.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"

#include <QFile>

#include <map>

using namespace split_backward;

namespace {

/// A number of a row's formula: + - * / ( ) and letters, a factor right behind another one multiplies.
class Formula {
public:
    Formula(const char *text, std::map<char, double> values)
        : m_text(QByteArray(text).replace(" ", ""))
        , m_values(std::move(values))
    {
    }
    double value()
    {
        const double sum = terms();
        if (m_at != m_text.size())
            qFatal("cannot read %s at %d", m_text.constData(), int(m_at));
        return sum;
    }

private:
    [[nodiscard]] char next() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
    double terms()
    {
        double sum = product();
        while (next() == '+' || next() == '-')
            sum += m_text[m_at++] == '+' ? product() : -product();
        return sum;
    }
    double product()
    {
        double all = factor();
        for (;;) {
            if (next() == '/')
                ++m_at, all /= factor();
            else if (next() == '(' || m_values.contains(next()))
                all *= factor();
            else
                return all;
        }
    }
    double factor()
    {
        if (next() == '(') {
            ++m_at;
            const double sum = terms();
            ++m_at;
            return sum;
        }
        if (const auto known = m_values.find(next()); known != m_values.end()) {
            ++m_at;
            return known->second;
        }
        const qsizetype first = m_at;
        while (std::isdigit(static_cast<unsigned char>(next())))
            ++m_at;
        return m_text.mid(first, m_at - first).toDouble();
    }

    QByteArray m_text;
    std::map<char, double> m_values;
    qsizetype m_at = 0;
};

ScheduleShape shapeOf(const ScheduleTraits &schedule, int stages, int microBatches)
{
    int chunks = schedule.chunksPerStage(1);
    while (!schedule.isSliced() && !schedule.chunks.accepts(chunks))
        ++chunks;
    return { stages, microBatches, schedule.isSliced() ? 4 : chunks, {} };
}

/// All that a schedule may be asked for, and what it must refuse.
std::vector<ScheduleShape> manyShapes()
{
    std::vector<ScheduleShape> shapes;
    for (const int p : { 1, 2, 3, 4, 6 })
        for (int m = 1; m <= 16; ++m)
            for (const int v : { 1, 2, 3, 4 })
                shapes.push_back({ p, m, v, {} });
    return shapes;
}

bool isAllowed(const ScheduleTraits &schedule, const ScheduleShape &shape)
{
    return (schedule.isSliced() || schedule.chunks.accepts(shape.chunks)) && schedule.stages.accepts(shape.devices)
        && schedule.microBatches.accepts(shape.microBatches, shape.devices);
}

int count(const std::vector<Op> &order, const auto &isCounted)
{
    return int(std::ranges::count_if(order, isCounted));
}

/// Micro-batches through each chunk of a device: all, or half where two copies of the model share them.
bool isComplete(const ScheduleTraits &schedule, const Program &program)
{
    const int passes = program.shape.microBatches * program.shape.chunks / schedule.copies();
    return std::ranges::all_of(program.order, [&](const std::vector<Op> &order) {
        const int whole = count(order, [](const Op &op) { return op.kind == OpKind::Backward; });
        const int inputs = count(order, [](const Op &op) { return op.kind == OpKind::InputGrad; });
        const int weights = count(order, [](const Op &op) { return op.kind == OpKind::WeightGrad; });
        return count(order, [](const Op &op) { return isForward(op.kind); }) == passes && whole + inputs == passes
            && inputs == weights;
    });
}

/// Of device `d`, from its first operation to its last, what it does not work.
double longestWait(const Program &program, int chunks)
{
    const ScheduleTimes times = timesOf(program.virtualStages(), { 1.0 / chunks, 1.0 / chunks, 1.0 / chunks, 0 });
    IterationCosts costs = costsOf(program, times);
    for (Nanoseconds &pair : costs.classes.front().pairs)
        pair = 3 * times.stages.front().forward;
    const Timeline timeline = run(costs);
    Nanoseconds longest = 0;
    for (const Track &track : timeline.tracks)
        longest = std::max(longest, timeline.end[track.last - 1] - timeline.start[track.first] - busy(timeline, track));
    return double(longest) / kUnit;
}

QByteArray text(const ScheduleTraits &schedule)
{
    return toString(schedule.kind);
}

} // namespace

class TestTraits : public QObject {
    Q_OBJECT

private slots:
    void everyKindHasItsRow();
    void aShapeIsTakenWhereTheRuleAllowsItAndEveryMicroBatchPasses();
    void aRefusedShapeIsToldTheNearestThatWouldDo();
    void backwardsAreSplitAndPairedWhereTheRowSaysSo();
    void noBackwardComesBeforeTheLastForwardWhereForwardsGoFirst();
    void openForwardsAreNoMoreThanStagesBehindWhereTheRowSaysSo();
    void aLimitHasRoomForWhatTheRowSaysAndIsRefusedBelow();
    void theBubbleIsTheSimulatedOneAtEqualTimes();
    void theClosedFormIsTheSimulatedTimeAtEqualTimes();
    void chunksThatAPlanAsksForFindASchedule();
    void thePageOfThePlanFileListsThemAll();
};

void TestTraits::everyKindHasItsRow()
{
    for (std::size_t kind = 0; kind < allSchedules().size(); ++kind) {
        const ScheduleTraits &schedule = *allSchedules()[kind];
        QCOMPARE(std::size_t(schedule.kind), kind);
        QVERIFY2(bool(schedule.lay) != bool(schedule.layByTimes), text(schedule));
        QVERIFY2(*schedule.label && *schedule.text && *schedule.holds, text(schedule));
    }
    QCOMPARE(std::string(toString(allSchedules().back()->kind)), "atlas"); // the last name of the plan file
}

void TestTraits::aShapeIsTakenWhereTheRuleAllowsItAndEveryMicroBatchPasses()
{
    // m forwards and m backwards of every chunk on each device, m / 2 where there are two copies, and an engine that
    // ends.
    for (const ScheduleTraits *schedule : allSchedules())
        for (const ScheduleShape &shape : manyShapes()) {
            const auto program = makeProgram(schedule->kind, shape);
            const QByteArray where = text(*schedule)
                + QStringLiteral(" %1 %2 %3").arg(shape.devices).arg(shape.microBatches).arg(shape.chunks).toUtf8();
            QVERIFY2(program.has_value() == isAllowed(*schedule, shape), where);
            if (!program)
                continue;
            QVERIFY2(isComplete(*schedule, *program), where);
            QVERIFY2(program->placement == schedule->placement && program->rule == schedule->rule, where);
            if (shape.microBatches % 8 == 0)
                QVERIFY2(run(costsOf(*program, timesOf(program->virtualStages(), {}))).duration > 0, where);
        }
}

void TestTraits::aRefusedShapeIsToldTheNearestThatWouldDo()
{
    // Of each fault the first number of what would do is taken by the same rule.
    int faults = 0;
    for (const ScheduleTraits *schedule : allSchedules())
        for (ScheduleShape shape : manyShapes()) {
            const auto program = makeProgram(schedule->kind, shape);
            if (program)
                continue;
            const Error &error = program.error();
            const int right = std::stoi(error.right);
            const bool isStages = error.where == "parallelism.pipeline",
                       isBatch = error.where == "workload.global_batch";
            const bool isTaken = isStages ? schedule->stages.accepts(right)
                : isBatch                 ? schedule->microBatches.accepts(right, shape.devices)
                                          : schedule->chunks.accepts(schedule->chunksPerStage(right));
            QVERIFY2(isTaken, toString(error).c_str());
            ++faults;
        }
    QVERIFY(faults > 100);
}

void TestTraits::backwardsAreSplitAndPairedWhereTheRowSaysSo()
{
    for (const ScheduleTraits *schedule : allSchedules()) {
        const Program program = make(schedule->kind, shapeOf(*schedule, 4, 8));
        QVERIFY2(splitsBackward(program) == schedule->splitsBackward, text(*schedule));
        for (const std::vector<Op> &order : program.order) {
            QVERIFY2((order.back().kind == OpKind::WeightGrad) == schedule->splitsBackward, text(*schedule));
            QVERIFY2(
                (count(order, [](const Op &op) { return op.kind == OpKind::PairedForward; }) > 0) == schedule->pairs,
                text(*schedule));
        }
        const bool hasRecomputes =
            count(program.order.front(), [](const Op &op) { return op.kind == OpKind::Recompute; }) > 0;
        QVERIFY2(hasRecomputes == schedule->recomputesApart(), text(*schedule));
    }
}

void TestTraits::noBackwardComesBeforeTheLastForwardWhereForwardsGoFirst()
{
    for (const ScheduleTraits *schedule : allSchedules()) {
        if (schedule->decidesAtRunTime())
            continue; // whose order is another at run time
        const Program program = make(schedule->kind, shapeOf(*schedule, 4, 8));
        const bool areFirst = std::ranges::all_of(program.order, [](const std::vector<Op> &order) {
            const auto backward = std::ranges::find_if(order, [](const Op &op) { return makesGradient(op.kind); });
            return std::none_of(backward, order.end(), [](const Op &op) { return isForward(op.kind); });
        });
        QVERIFY2(areFirst == schedule->forwardsFirst, text(*schedule));
    }
}

void TestTraits::openForwardsAreNoMoreThanStagesBehindWhereTheRowSaysSo()
{
    // On stage i at most p - i.
    for (const ScheduleTraits *schedule : allSchedules()) {
        if (!schedule->isLoop() || schedule->decidesAtRunTime())
            continue;
        for (const int p : { 2, 4, 8 }) {
            const Program program = make(schedule->kind, shapeOf(*schedule, p, 4 * p));
            bool keeps = program.shape.chunks == 1;
            for (int i = 0; i < p; ++i) {
                int open = 0;
                for (const Op &op : program.order[std::size_t(i)]) {
                    open += isForward(op.kind) - makesGradient(op.kind);
                    keeps &= open <= p - i;
                }
            }
            QVERIFY2(!schedule->holdsStagesBehind || keeps, text(*schedule));
            if (p == 8 && schedule->layByTimes == nullptr)
                QVERIFY2(keeps == schedule->holdsStagesBehind, text(*schedule));
        }
    }
}

void TestTraits::aLimitHasRoomForWhatTheRowSaysAndIsRefusedBelow()
{
    for (const ScheduleTraits *schedule : allSchedules())
        for (const int p : { 2, 4, 8 }) {
            ScheduleShape shape = shapeOf(*schedule, p, 4 * p);
            if (!schedule->inFlight) { // keeps within any limit
                shape.inFlightLimit = { 2 };
                const std::vector<double> peaks = peakInFlight(make(schedule->kind, shape));
                QVERIFY2(std::ranges::all_of(peaks, [](double peak) { return peak <= 2; }), text(*schedule));
                continue;
            }
            const std::vector<int> needed = schedule->inFlight(shape);
            const std::vector<double> peaks = peakInFlight(make(schedule->kind, shape));
            for (std::size_t i = 0; i < needed.size(); ++i) // at most, and less than a micro-batch below on the fullest
                QVERIFY2(peaks[i] <= needed[i] + 1e-9, text(*schedule));
            QVERIFY2(std::ranges::max(peaks) > std::ranges::max(needed) - 1, text(*schedule));
            shape.inFlightLimit = needed;
            QVERIFY2(makeProgram(schedule->kind, shape).has_value(), text(*schedule));
            --shape.inFlightLimit.front();
            QVERIFY2(shape.inFlightLimit.front() == 0 || !makeProgram(schedule->kind, shape), text(*schedule));
        }
}

void TestTraits::theBubbleIsTheSimulatedOneAtEqualTimes()
{
    int known = 0;
    for (const ScheduleTraits *schedule : allSchedules()) {
        if (!*schedule->bubble)
            continue;
        ++known;
        for (const int p : { 2, 4, 8 })
            for (const int rounds : { 2, 4 }) {
                const ScheduleShape shape = shapeOf(*schedule, p, rounds * p);
                const int chunks = shape.chunks / schedule->copies(); // a copy's chunk is a whole stage
                const double formula = Formula(schedule->bubble,
                    { { 'p', p }, { 'm', rounds * p }, { 'v', shape.chunks }, { 'f', 1 }, { 'b', 1 },
                        { 'w', 1 } }).value();
                const double simulated = longestWait(make(schedule->kind, shape), chunks);
                QVERIFY2(std::abs(simulated - formula) < 1e-6,
                    qPrintable(QStringLiteral("%1, %2 stages, %3 micro-batches: %4, by its formula %5")
                                   .arg(QString::fromUtf8(text(*schedule)))
                                   .arg(p)
                                   .arg(rounds * p)
                                   .arg(simulated)
                                   .arg(formula)));
            }
    }
    QVERIFY(known >= 12);
}

void TestTraits::theClosedFormIsTheSimulatedTimeAtEqualTimes()
{
    // p stages of f = b = w = 1, nothing sent: an iteration ends with the last operation.
    for (const ScheduleTraits *schedule : allSchedules()) {
        if (!schedule->form || schedule->decidesAtRunTime())
            continue;
        const ScheduleShape shape = shapeOf(*schedule, 4, 16);
        const double part = 1.0 / shape.chunks;
        FormPipeline pipeline;
        pipeline.stages.assign(4, { 1, 2, 0 });
        pipeline.boundaries.resize(3);
        pipeline.microBatches = 16;
        pipeline.chunks = shape.chunks;
        pipeline.inFlight = { 4, 3, 2, 1 };
        const Outcome simulated =
            outcome(make(schedule->kind, shape), timesOf(4 * shape.chunks, { part, part, part, 0 }));
        QVERIFY2(
            std::abs(schedule->form(pipeline).seconds - double(simulated.makespan) / kUnit) < 1e-6, text(*schedule));
    }
}

void TestTraits::chunksThatAPlanAsksForFindASchedule()
{
    for (const ScheduleTraits *schedule : allSchedules())
        for (const int v : { 1, 2, 3, 4 }) {
            const ScheduleTraits &found = traitsOf(scheduleForChunks(schedule->kind, v));
            if (!schedule->isLoop() || schedule->chunks.accepts(v))
                QCOMPARE(found.kind, schedule->kind);
            else
                QVERIFY2(found.chunks.accepts(v), text(*schedule));
        }
    QVERIFY(makeProgram(kPlainSchedule, { 7, 5, 1, {} }).has_value());
    QVERIFY(makeProgram(kPlainSchedule, { 7, 5, 1, { 1 } }).has_value());
}

void TestTraits::thePageOfThePlanFileListsThemAll()
{
    QFile page(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/plan-file.md"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const CatalogueListing listing = scheduleListing(builtinCatalogue());
    const auto line = [&](const auto &cellOf) {
        QString text;
        for (std::size_t c = 0; c < listing.columns.size(); ++c)
            if (!listing.columns[c].heading.empty())
                text += QStringLiteral("| %1 ").arg(QString::fromStdString(cellOf(c)));
        return text + QLatin1Char('|');
    };
    QStringList rows { QStringLiteral("## `schedule`"),
        line([&](std::size_t c) { return c == 0 ? "value" : listing.columns[c].heading; }),
        QStringLiteral("|---|---|---|---|---|") };
    for (const std::vector<CatalogueCell> &cells : listing.rows)
        rows << line([&](std::size_t c) {
            return (c == 0 || c == 5) && !cells[c].text.empty() ? '`' + cells[c].text + '`' : cells[c].text;
        });
    const QString text = QString::fromUtf8(page.readAll());
    const bool isListed = text.contains(rows.join(QLatin1Char('\n')) + QStringLiteral("\n\n"));
    for (const QString &row : isListed ? QStringList() : rows)
        qInfo().noquote() << "has to read:" << row;
    QVERIFY(isListed);
}

TRAINYARD_APPLESS_TEST(TestTraits)
#include "tst_traits.moc"
