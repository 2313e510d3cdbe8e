// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "tests/core/live/told_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>
#include <thread>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

std::int64_t sumOf(const StoreCounts &counts)
{
    std::int64_t sum = counts.events + counts.duplicates;
    for (const Dropped &one : counts.dropped)
        sum += one.count;
    return sum;
}

Recording all(const Store &store)
{
    const auto snapshot = store.snapshot({ .steps = 1'000'000 });
    return snapshot ? *snapshot->recording : Recording();
}

bool isRecording(const Recording &recording)
{
    const auto checked = recording_file::checkRecording(recording);
    if (!checked)
        qWarning("%s", toString(checked.error()).c_str());
    return checked.has_value();
}

} // namespace

class TestStore : public QObject {
    Q_OBJECT

private slots:
    void whateverWayItIsToldTheSnapshotIsTheSame()
    {
        const RunShape shape;
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            std::mt19937_64 random(seed);
            Store straight, other;
            std::int64_t given = 0;
            std::vector<Batch> pieces;
            for (Batch &batch : batchesOf(shape, seed)) {
                for (Batch &piece : cut(batch, 1 + random() % 5, random))
                    pieces.push_back(std::move(piece));
                straight.take(std::move(batch));
            }
            for (std::size_t i = pieces.size(); i > 0; --i) // a third is told twice
                if (random() % 3 == 0)
                    pieces.push_back(pieces[i - 1]);
            std::ranges::shuffle(pieces, random);
            for (Batch &piece : pieces) {
                given += eventsOf(piece);
                other.take(std::move(piece));
                if (random() % 10 == 0)
                    (void)other.snapshot({});
            }
            const Recording a = all(straight), b = all(other);
            QVERIFY(isRecording(a) && isRecording(b));
            QVERIFY(sentencesOf(a) == sentencesOf(b));
            QVERIFY(!sentencesOf(a).empty());
            // taken + dropped + told before = given
            QCOMPARE(sumOf(other.counts()), given);
            QCOMPARE(other.counts().events, straight.counts().events);
            QVERIFY(other.counts().duplicates > 0 && other.counts().dropped.empty());
        }
    }

    void whatWasToldStandsInTheSnapshotAsItWas()
    {
        const RunShape shape;
        Store store;
        std::vector<std::string> told;
        for (Batch &batch : batchesOf(shape, 7)) {
            for (std::string &sentence : sentencesOf(batch.part))
                told.push_back(std::move(sentence));
            store.take(std::move(batch));
        }
        std::ranges::sort(told);
        for (int step = shape.firstStep; step < shape.firstStep + shape.steps; ++step) // and what each step took
            told.push_back("step_time  -1 " + std::to_string(step) + " " + std::to_string((kStep - 5'000) * 1e-9));
        std::ranges::sort(told);
        QVERIFY(sentencesOf(all(store)) == told);
        QVERIFY(sentencesOf(store.whole()) == told);
    }

    void aSnapshotShowsAllStepsAndTheSpansOfTheLatest()
    {
        const RunShape shape { .steps = 20 };
        Store store;
        for (Batch &batch : batchesOf(shape, 1))
            store.take(std::move(batch));
        const auto snapshot = store.snapshot({ .steps = 8 });
        QVERIFY(snapshot);
        for (const RankRecording &rank : snapshot->recording->ranks) {
            QCOMPARE(rank.steps.size(), std::size_t(20));
            for (const RecordedStream &stream : rank.streams)
                QCOMPARE(stream.spans.size(), std::size_t(8 * shape.spans));
            QCOMPARE(rank.collectives.size(), std::size_t(8 * shape.spans));
        }
        QCOMPARE(snapshot->firstStep, std::int64_t(100));
        QCOMPARE(snapshot->lastStep, std::int64_t(119));
        QVERIFY(snapshot->latest > kBegin + 19 * kStep);
        // earlier ones, as somebody scrubs back
        const auto earlier = store.snapshot({ .steps = 3, .until = 110 });
        QVERIFY(earlier);
        const RankRecording &rank = earlier->recording->ranks[1];
        QCOMPARE(rank.streams[0].spans.size(), std::size_t(3 * shape.spans));
        QCOMPARE(rank.streams[0].spans.start[0], rank.steps[8].start);
        // names are those of what it shows: not "step 100" … "step 119", which nothing is called by
        QCOMPARE(snapshot->recording->names.size(), std::size_t(3));
    }

    void nothingNewIsNoSnapshot()
    {
        Store store;
        QVERIFY(!store.snapshot({}));
        for (Batch &batch : batchesOf({}, 1))
            store.take(std::move(batch));
        const auto first = store.snapshot({});
        QVERIFY(first);
        QVERIFY(!store.snapshot({ .lastKnown = first->revision }));
        store.take(Batch {});
        QVERIFY(store.snapshot({ .lastKnown = first->revision }));
    }

    void aRunIsMadeOfASnapshot()
    {
        const RunShape shape { .ranks = 4, .steps = 10 };
        Store store;
        for (Batch &batch : batchesOf(shape, 1))
            store.take(std::move(batch));
        const auto snapshot = store.snapshot({ .steps = 5 });
        const RunPtr run = makeRun(*snapshot->recording);
        QVERIFY(run);
        QCOMPARE(run->steps.size(), std::size_t(10));
        QCOMPARE(run->steps.back().number, std::int64_t(109));
        QVERIFY(std::abs(run->steps.back().seconds - kStep * 1e-9) < 0.01);
        QVERIFY(!sharesOf(*run, run->steps.back()).empty());
        QVERIFY(!run->steps[4].hasSpans() && run->steps[5].hasSpans());
        QVERIFY(std::abs(run->steps[4].seconds - (kStep - 5'000) * 1e-9) < 1e-9);
    }

    void theOldestStepsGoFirstAndWhole()
    {
        StoreLimits limits;
        limits.spans = 1'000;
        const RunShape shape { .steps = 40 };
        Store store(limits);
        std::int64_t given = 0;
        for (Batch &batch : batchesOf(shape, 1)) {
            given += eventsOf(batch);
            store.take(std::move(batch));
        }
        const auto snapshot = store.snapshot({ .steps = 1'000 });
        QVERIFY(snapshot->recording->spanCount() <= limits.spans);
        QVERIFY(snapshot->recording->spanCount() >= limits.spans / 2);
        for (const RankRecording &rank : snapshot->recording->ranks) {
            QCOMPARE(rank.steps.size(), std::size_t(40)); // steps stay
            for (const RecordedStream &stream : rank.streams)
                QCOMPARE(stream.spans.size() % std::size_t(shape.spans), std::size_t(0));
        }
        const std::int64_t held = snapshot->lastStep - snapshot->firstStep + 1;
        QCOMPARE(std::size_t(held * shape.ranks * 2 * shape.spans), snapshot->recording->spanCount());
        QCOMPARE(sumOf(snapshot->counts), given);
        QCOMPARE(snapshot->counts.aged, std::int64_t((40 - held) * shape.ranks * 3 * shape.spans));
        // what comes for a step that has gone is told as dropped
        std::mt19937_64 random(1);
        Batch late = stepBatch(shape, 0, 100, random);
        late.part.ranks[0].streams[0].spans.name[0] = 3;
        store.take(std::move(late));
        QCOMPARE(store.counts().dropped.front().reason, "of steps that were let go before");
    }

    void aRestartLeavesTheLaterAttempt()
    {
        const RunShape shape { .ranks = 1, .steps = 10 };
        std::mt19937_64 random(1);
        Store store;
        for (int step = 100; step < 110; ++step)
            store.take(stepBatch(shape, 0, step, random));
        const RunShape again { .ranks = 1, .firstStep = 50 }; // steps lie 50 steps' time later
        for (int step = 105; step < 107; ++step)
            store.take(stepBatch(again, 0, step, random));
        const auto snapshot = store.snapshot({ .steps = 1'000 });
        const RankRecording &rank = snapshot->recording->ranks[0];
        QCOMPARE(rank.steps.size(), std::size_t(7));
        QCOMPARE(rank.steps.back().number, std::int64_t(106));
        QCOMPARE(rank.streams[0].spans.size(), std::size_t(7 * shape.spans));
        QCOMPARE(snapshot->ranks[0].attempts, std::int64_t(2));
        QCOMPARE(snapshot->ranks[0].step, std::int64_t(106));
        QCOMPARE(snapshot->counts.aged, std::int64_t(5 * 3 * shape.spans));
    }

    /// A job that ended in step 59 and was started again from a checkpoint at 39: nobody has told 40 to 59 of it yet.
    /// The same told again, as after a lost connection, and what another source tells, changes nothing.
    void aLogThatIsStartedAgainEndsWithItsNewestStep()
    {
        const auto tell = [](Store &store, std::uint32_t source, Moment first, Moment last, double seconds) {
            Batch batch;
            batch.source = source;
            batch.received = kBegin;
            SampleSeries times { .name = "step_time", .unit = "s", .isByStep = true };
            for (Moment step = first; step <= last; ++step) {
                times.at.push_back(step);
                times.value.push_back(seconds + double(step) * 1e-3);
            }
            batch.part.series = { times };
            store.take(std::move(batch));
        };
        const auto newest = [](const Store &store) { return all(store).series.front().at.back(); };
        Store store;
        tell(store, 1, 0, 59, 2);
        tell(store, 1, 0, 59, 2);
        tell(store, 2, 30, 40, 3);
        QCOMPARE(newest(store), Moment(59));
        tell(store, 1, 39, 39, 4);
        QCOMPARE(newest(store), Moment(39));
        tell(store, 1, 40, 44, 4);
        QCOMPARE(newest(store), Moment(44));
        QCOMPARE(all(store).series.front().value[40], 4.04);
        tell(store, 1, 20, 20, 5); // a second value of a step, behind which the job goes on
        tell(store, 1, 45, 46, 4);
        QCOMPARE(newest(store), Moment(46));
        QCOMPARE(all(store).series.front().at.size(), std::size_t(47));
        QCOMPARE(all(store).series.front().value[20], 5.02);
    }

    void twoHostsThatClaimOneRankAreBothKept()
    {
        std::mt19937_64 random(1);
        Store store;
        Batch one = stepBatch({}, 1, 100, random), other = stepBatch({}, 1, 100, random);
        other.part.ranks[0].host = "impostor";
        store.take(std::move(one));
        store.take(std::move(other));
        const Recording recording = all(store);
        QCOMPARE(recording.ranks.size(), std::size_t(2));
        bool isNoted = false;
        for (const RecordedSource &source : recording.sources)
            for (const std::string &note : source.notes)
                isNoted = isNoted || (note.find("Rank 1 ") == 0 && note.find("impostor") != std::string::npos);
        QVERIFY(isNoted);
    }

    void whoTellsNoHostSpeaksOfTheRankThatIsThere()
    {
        std::mt19937_64 random(1);
        Store store;
        for (const auto &[step, host] : { std::pair { 100, "" }, { 101, "n0" }, { 102, "" } }) {
            Batch batch = stepBatch({}, 1, step, random);
            batch.part.ranks[0].host = host;
            store.take(std::move(batch));
        }
        const Recording recording = all(store);
        QCOMPARE(recording.ranks.size(), std::size_t(1));
        QCOMPARE(recording.ranks[0].host, "n0");
        QCOMPARE(recording.ranks[0].steps.size(), std::size_t(3));
        QVERIFY(recording.sources[0].notes.empty());
    }

    void aClockThatJumpsBackIsTold()
    {
        std::mt19937_64 random(1);
        Store store;
        for (int step = 100; step < 105; ++step)
            store.take(stepBatch({ .ranks = 1 }, 0, step, random));
        for (int step = 105; step < 110; ++step) { // an hour back
            Batch batch = stepBatch({ .ranks = 1 }, 0, step, random);
            batch.part.zero -= 3'600'000'000'000;
            store.take(std::move(batch));
        }
        const Recording recording = all(store);
        QVERIFY(isRecording(recording));
        QCOMPARE(recording.ranks[0].steps.size(), std::size_t(10));
        QCOMPARE(recording.sources[0].notes.size(), std::size_t(1));
        QVERIFY2(recording.sources[0].notes[0].starts_with("The clock of rank 0 went back by 3598 s at step 105"),
            recording.sources[0].notes[0].c_str());
        QVERIFY(makeRun(recording));
    }

    void itStaysBoundedHoweverLongItIsTold()
    {
        StoreLimits limits;
        limits.spans = 20'000;
        limits.recent = limits.thinned = 256;
        limits.steps = 5'000;
        limits.names = 1'000;
        limits.series = 50;
        const RunShape shape { .ranks = 2, .spans = 50 };
        std::mt19937_64 random(1);
        Store store(limits);
        std::size_t early = 0;
        std::int64_t given = 0;
        for (int step = 100; step < 20'100; ++step) { // eleven hours of steps
            for (int rank = 0; rank < shape.ranks; ++rank) {
                Batch batch = stepBatch(shape, rank, step, random);
                batch.part.names.push_back("kernel of step " + std::to_string(step));
                batch.part.ranks[0].streams[0].spans.name[0] = 4; // names without end
                batch.part.series.push_back(
                    { SharedText("series " + std::to_string(step / 10)), "1", -1, "", true, { step }, { 1 }, 0 });
                given += eventsOf(batch);
                store.take(std::move(batch));
            }
            if (step == 1'600)
                early = store.bytes();
            if (step % 500 == 0)
                QVERIFY(store.snapshot({}));
        }
        QVERIFY2(store.bytes() < 2 * early, std::to_string(store.bytes()).c_str());
        QVERIFY(store.bytes() < std::size_t(16) << 20);
        const auto snapshot = store.snapshot({ .steps = 1'000'000 });
        QVERIFY(isRecording(*snapshot->recording));
        QCOMPARE(sumOf(snapshot->counts), given);
        QVERIFY(snapshot->recording->names.size() <= limits.names);
        // the latest spans have their names still
        const RankRecording &rank = snapshot->recording->ranks[0];
        QCOMPARE(snapshot->recording
                     ->names[rank.streams[0].spans.name[rank.streams[0].spans.size() - std::size_t(shape.spans)]],
            "kernel of step 20099");
        QVERIFY(rank.steps.size() <= limits.steps);
        QCOMPARE(rank.steps.back().number, std::int64_t(20'099));
    }

    void spansWithoutStepsAreBoundedToo()
    {
        StoreLimits limits;
        limits.spans = 1'000;
        Store store(limits);
        std::mt19937_64 random(1);
        std::int64_t given = 0;
        for (int step = 100; step < 300; ++step) {
            Batch batch = stepBatch({}, 0, step, random);
            batch.part.ranks[0].steps.clear();
            given += eventsOf(batch);
            store.take(std::move(batch));
        }
        const auto snapshot = store.snapshot({});
        QVERIFY(snapshot->recording->spanCount() <= 1'000 && snapshot->recording->spanCount() > 500);
        QCOMPARE(sumOf(snapshot->counts), given);
        QCOMPARE(snapshot->firstStep, std::int64_t(-1));
    }

    void oneWrongClockCostsTheOthersNothing()
    {
        StoreLimits limits;
        limits.spans = 2'000;
        Store store(limits);
        std::mt19937_64 random(1);
        for (int step = 100; step < 200; ++step)
            for (int rank = 0; rank < 3; ++rank) {
                Batch batch = stepBatch({}, rank, step, random);
                if (rank == 1 && step == 120)
                    batch.part.zero += 1'000'000'000'000'000'000; // 30 years ahead, once
                store.take(std::move(batch));
            }
        const auto snapshot = store.snapshot({ .steps = 3 });
        QVERIFY(isRecording(*snapshot->recording));
        QVERIFY(snapshot->latest < kBegin + 101 * kStep); // the newest is what the others tell
        for (const RankRecording &rank : snapshot->recording->ranks)
            QVERIFY(rank.streams[0].spans.size() >= 3 * 20);
    }

    void sourcesAndArgumentsAreKeptApart()
    {
        Store store;
        Batch one, other;
        one.source = 1;
        one.part.sources.push_back({ .file = "a", .taken = 3, .dropped = { { "bad", 2 } }, .notes = { "n" } });
        one.part.arguments = { { "tp", "4" } };
        other = one;
        other.source = 2;
        other.part.arguments = { { "tp", "8" }, { "pp", "2" } };
        store.take(Batch(one));
        store.take(std::move(one));
        store.take(std::move(other));
        const Recording recording = all(store);
        QCOMPARE(recording.sources.size(), std::size_t(2));
        QCOMPARE(recording.sources[0].taken, std::int64_t(6));
        QCOMPARE(recording.sources[0].dropped[0].count, std::int64_t(4));
        QCOMPARE(recording.sources[0].notes.size(), std::size_t(1));
        QCOMPARE(recording.arguments.at("tp"), "4");
        QCOMPARE(recording.arguments.at("pp"), "2");
        QCOMPARE(recording.argumentsOf.size(), std::size_t(2));
    }

    void manyThreadsTellAndLookAtOnce()
    {
        Store store;
        std::vector<std::thread> threads;
        for (int rank = 0; rank < 3; ++rank)
            threads.emplace_back([&store, rank] {
                std::mt19937_64 random { std::uint64_t(rank) };
                for (int step = 100; step < 150; ++step)
                    store.take(stepBatch({}, rank, step, random));
            });
        threads.emplace_back([&store] {
            for (int i = 0; i < 50; ++i)
                if (const auto snapshot = store.snapshot({}); snapshot)
                    (void)snapshot->recording->spanCount();
        });
        for (std::thread &thread : threads)
            thread.join();
        QCOMPARE(store.snapshot({})->recording->ranks[2].steps.size(), std::size_t(50));
        store.clear();
        QCOMPARE(store.counts().events, std::int64_t(0));
    }
};

TRAINYARD_GUILESS_TEST(TestStore)
#include "tst_store.moc"
