// SPDX-License-Identifier: GPL-3.0-or-later
// A session with sources that do as the test says: what goes in is decoded or counted, nobody waits for anybody.
#include "core/live/session.h"
#include "tests/support/test_program.h"

#include "core/live/feed.h"

#include <QTest>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

using namespace trainyard;
using namespace trainyard::live;

namespace {

/// What all decoders of a test saw.
struct Seen {
    std::mutex mutex;
    std::int64_t taken = 0, skipped = 0, ended = 0;
    std::string text; // of small tests
    std::atomic<bool> isHeld = false; // decoders wait while it is true
};

/// Counts bytes, makes a batch of one sample of each piece, and refuses "garbage".
class CountingDecoder : public Decoder {
public:
    explicit CountingDecoder(Seen &seen)
        : m_seen(seen)
    {
    }
    Expected<void> take(std::string_view bytes, Moment received, const BatchOut &out) override
    {
        while (m_seen.isHeld)
            std::this_thread::yield();
        {
            const std::lock_guard lock(m_seen.mutex);
            m_seen.taken += static_cast<std::int64_t>(bytes.size());
            if (m_seen.text.size() < 1000)
                m_seen.text += bytes;
        }
        if (bytes.find("garbage") != bytes.npos)
            return std::unexpected(Error { ErrorCode::BadSyntax, "a peer", "it speaks garbage", "lines" });
        Batch batch;
        batch.received = received;
        batch.part.zero = received;
        SampleSeries series;
        series.name = "power";
        series.unit = "W";
        series.at = { m_at++ };
        series.value = { 1 };
        batch.part.series.push_back(std::move(series));
        out(std::move(batch));
        return {};
    }
    void end(Moment, const BatchOut &) override
    {
        const std::lock_guard lock(m_seen.mutex);
        ++m_seen.ended;
    }
    void skip(std::int64_t bytes) override
    {
        const std::lock_guard lock(m_seen.mutex);
        m_seen.skipped += bytes;
    }

private:
    Seen &m_seen;
    Moment m_at = 0;
};

/// A source that the test drives: it tells what was asked of it.
struct FakeSource : Source {
    FakeSource(SourceSink &own, Seen &seen, std::atomic<int> &living)
        : sink(own)
        , m_seen(seen)
        , m_living(living)
    {
        ++m_living;
    }
    ~FakeSource() override { --m_living; }
    void start() override
    {
        sink.opened(1, std::make_unique<CountingDecoder>(m_seen));
        tell(SourceState::Live);
    }
    void stop() override { }
    void setPaused(bool isPaused) override { tell(isPaused ? SourceState::Paused : SourceState::Live); }
    void retryNow() override { ++retries; }
    void refuse(std::uint64_t connection, const Error &why) override
    {
        refused = connection;
        tell(SourceState::BackingOff, why.what);
    }
    void tell(SourceState state, const std::string &reason = {})
    {
        SourceStatus status;
        status.state = state;
        status.reason = reason;
        sink.status(status);
    }

    SourceSink &sink;
    std::atomic<int> retries = 0;
    std::atomic<std::uint64_t> refused = 0;

private:
    Seen &m_seen;
    std::atomic<int> &m_living;
};

class Bench {
public:
    explicit Bench(std::size_t queueBytes = std::size_t(1) << 20)
    {
        SessionOptions options;
        options.queueBytes = queueBytes;
        options.changed = [this] { ++changes; };
        options.steadyNow = [this] { return now.load(); };
        options.make = [this](net::Loop &, SourceSink &sink, const Address &, const SourceSettings &) {
            auto made = std::make_unique<FakeSource>(sink, seen, living);
            const std::lock_guard lock(m_mutex);
            m_sources.push_back(made.get());
            return made;
        };
        session = std::make_unique<Session>(std::move(options));
    }
    ~Bench() { seen.isHeld = false; }

    std::uint32_t add(const char *address = "tcp://n0:7000", const SourceSettings &settings = {})
    {
        const auto number = session->add(parseAddress(address).value(), settings);
        session->drain(); // it is made
        return number.value();
    }
    FakeSource &source(std::size_t index = 0)
    {
        const std::lock_guard lock(m_mutex);
        return *m_sources.at(index);
    }
    SourceStatus status(std::size_t index = 0) const { return session->statuses().at(index).second; }

    Seen seen;
    std::atomic<int> living = 0, changes = 0;
    std::atomic<std::int64_t> now = 1;
    std::unique_ptr<Session> session;

private:
    std::mutex m_mutex;
    std::vector<FakeSource *> m_sources;
};

} // namespace

class TestSession : public QObject {
    Q_OBJECT

private slots:
    void bytesOfASourceAreDecodedInTheirOrder()
    {
        Bench bench;
        bench.add();
        for (const char *piece : { "one ", "two ", "three" })
            QVERIFY(bench.source().sink.bytes(1, piece, 1'000));
        bench.session->drain();
        QCOMPARE(bench.seen.text, std::string("one two three"));
        const SourceStatus status = bench.status();
        QVERIFY(status.state == SourceState::Live);
        QCOMPARE(status.bytes, 13);
        QCOMPARE(status.dropped, 0);
        QVERIFY(status.batches >= 1 && status.heard > 0);
        QTRY_VERIFY(bench.changes > 0);
        QCOMPARE(bench.session->store().counts().events, status.batches);
    }

    void whatAQueueCannotHoldIsDroppedAndCounted()
    {
        // taken + dropped = sent; the decoder is told of every byte that is missing
        Bench bench(64 << 10);
        bench.add();
        bench.seen.isHeld = true;
        const std::string piece(1'000, 'x');
        std::int64_t sent = 0, refused = 0;
        for (int i = 0; i < 1'000; ++i) {
            sent += std::ssize(piece);
            if (!bench.source().sink.bytes(1, piece, Moment(i) * 1'000'000'000))
                refused += std::ssize(piece);
        }
        QVERIFY2(refused > 900'000 && refused < sent, std::to_string(refused).c_str());
        QCOMPARE(bench.status().dropped, refused);
        bench.seen.isHeld = false;
        bench.session->drain();
        bench.source().sink.closed(1);
        bench.session->drain();
        QCOMPARE(bench.seen.taken, sent - refused);
        QCOMPARE(bench.seen.skipped, refused);
        QCOMPARE(bench.seen.ended, 1);
        QCOMPARE(bench.status().bytes, sent);
        // and a recording of it says so
        const Recording recording = bench.session->whole();
        std::int64_t told = 0;
        for (const RecordedSource &source : recording.sources)
            for (const Dropped &dropped : source.dropped)
                told += dropped.count;
        QCOMPARE(told, refused);
    }

    void aSourceThatFloodsLeavesRoomForOthers()
    {
        Bench bench(1 << 20);
        bench.add();
        bench.add("tcp://n1:7000");
        bench.seen.isHeld = true;
        const std::string piece(10'000, 'x');
        for (int i = 0; i < 1'000; ++i)
            static_cast<void>(bench.source(0).sink.bytes(1, piece, Moment(i) * 1'000'000'000));
        // the flood holds at most 4 / 5 of the queue: own ≤ 4 × (all − own)
        QVERIFY(bench.status(0).dropped > 9'000'000);
        for (int i = 0; i < 10; ++i)
            QVERIFY(bench.source(1).sink.bytes(1, piece, Moment(i) * 1'000'000'000));
        QCOMPARE(bench.status(1).dropped, 0);
        bench.seen.isHeld = false;
    }

    void aPieceLongerThanTheQueueIsTakenAlone()
    {
        Bench bench(1'000);
        bench.add();
        bench.session->drain();
        QVERIFY(bench.source().sink.bytes(1, std::string(50'000, 'x'), 1));
        bench.session->drain();
        QCOMPARE(bench.seen.taken, 50'000);
    }

    void whoSpeaksGarbageIsRefusedAndNotReadOn()
    {
        Bench bench;
        bench.add();
        QVERIFY(bench.source().sink.bytes(1, "garbage", 1));
        QTRY_VERIFY(bench.source().refused == 1);
        bench.session->drain();
        QVERIFY(bench.status().state == SourceState::BackingOff);
        QCOMPARE(bench.status().reason, std::string("it speaks garbage"));
        const std::int64_t before = bench.seen.taken;
        static_cast<void>(bench.source().sink.bytes(1, "more", 1));
        static_cast<void>(bench.source().sink.bytes(7, "nobody opened this", 1));
        bench.session->drain();
        QCOMPARE(bench.seen.taken, before);
        QCOMPARE(bench.status().dropped, 4 + 18); // "more", "nobody opened this"
    }

    void whatIsDecodedWholeTellsWhyItFails()
    {
        Bench bench;
        bench.add();
        std::atomic<int> failed = 0;
        const auto decode = [](bool isGood) {
            return [isGood](Moment received) -> Expected<Batch> {
                if (!isGood)
                    return std::unexpected(Error { ErrorCode::BadSyntax, "", "no answer", "" });
                Batch batch;
                batch.received = received;
                return batch;
            };
        };
        QVERIFY(bench.source().sink.whole(100, decode(true), [&](const Error &) { ++failed; }));
        QVERIFY(bench.source().sink.whole(100, decode(false), [&](const Error &) { ++failed; }));
        QTRY_COMPARE(failed.load(), 1);
        bench.session->drain();
        QCOMPARE(bench.status().batches, 1);
    }

    void silenceMakesItStaleAndAWordMakesItLive()
    {
        Bench bench;
        bench.add();
        QVERIFY(bench.source().sink.bytes(1, "a", 1));
        bench.session->drain();
        bench.now += 29'000'000'000;
        QVERIFY(bench.status().state == SourceState::Live);
        bench.now += 13'000'000'000;
        QVERIFY(bench.status().state == SourceState::Stale);
        QCOMPARE(bench.status().reason, std::string("nothing came for 42 s"));
        QVERIFY(bench.source().sink.bytes(1, "a", 1));
        QVERIFY(bench.status().state == SourceState::Live);
        QCOMPARE(bench.status().reason, std::string());
    }

    void howLongSilenceMayBeFollowsFromWhatIsAskedAndTold()
    {
        // max(30 s, 3 steps); Prometheus tells by the age of its samples itself
        QVERIFY(std::isinf(silenceAllowed(parseAddress("http://p:9090").value(), 100)));
        QCOMPARE(silenceAllowed(parseAddress("tcp://p:9090").value(), 1), 30.0);
        QCOMPARE(silenceAllowed(parseAddress("tail:a").value(), 100), 300.0);
        StepLengths steps;
        Recording part;
        part.ranks.resize(1);
        part.ranks[0].steps = { { 1, 0, 40'000'000'000 }, { 2, 40'000'000'000, 90'000'000'000 } };
        steps.take(part);
        QCOMPARE(steps.longest(), 50.0);
        part.ranks[0].steps = { { 3, 0, 1'000'000'000 } };
        for (int i = 0; i < 8; ++i)
            steps.take(part); // the long one is not among the latest any more
        QCOMPARE(steps.longest(), 1.0);
    }

    void aSourceIsPausedRetriedAndRemoved()
    {
        Bench bench;
        const std::uint32_t first = bench.add(), second = bench.add("tcp://n1:7000");
        QVERIFY(second > first);
        bench.session->setPaused(first, true);
        bench.session->retryNow(second);
        bench.session->drain();
        QVERIFY(bench.status(0).state == SourceState::Paused);
        QCOMPARE(bench.source(1).retries.load(), 1);
        bench.session->setPaused(first, false);
        QVERIFY(bench.source(0).sink.bytes(1, "kept", 1));
        bench.session->remove(first);
        QCOMPARE(bench.session->statuses().size(), std::size_t(1));
        bench.session->drain();
        QCOMPARE(bench.living.load(), 1);
        QCOMPARE(bench.seen.text, std::string("kept")); // what it had told before is read
        QCOMPARE(bench.seen.ended, 1);
        bench.session->remove(first); // again: nothing
        const std::uint32_t third = bench.add();
        QVERIFY(third > second); // numbers are not used again
    }

    void aSessionEndsWithoutWaitingForAnybody()
    {
        auto bench = std::make_unique<Bench>();
        for (int i = 0; i < 20; ++i)
            bench->add();
        std::atomic<int> &living = bench->living;
        QCOMPARE(living.load(), 20);
        for (int i = 0; i < 20; ++i)
            static_cast<void>(bench->source(std::size_t(i)).sink.bytes(1, "x", 1));
        bench->session.reset();
        QCOMPARE(living.load(), 0);
    }

    void badSettingsAreToldAtOnce()
    {
        Bench bench;
        const auto number = bench.session->add(parseAddress("listen:0.0.0.0:4318").value());
        QVERIFY(!number.has_value());
        QVERIFY(toString(number.error()).find("token") != std::string::npos);
        QVERIFY(bench.session->statuses().empty());
    }

    void changesAreToldSomeHundredTimesASecondAtMost()
    {
        Bench bench;
        bench.add();
        QTRY_VERIFY(bench.changes > 0);
        const int before = bench.changes;
        for (int i = 0; i < 10'000; ++i)
            static_cast<void>(bench.source().sink.bytes(1, "x", Moment(i) * 1'000'000'000));
        bench.session->drain();
        QTRY_VERIFY(bench.changes > before);
        QVERIFY2(bench.changes - before < 5'000, std::to_string(bench.changes - before).c_str()); // not one each
    }
};

TRAINYARD_GUILESS_TEST(TestSession)
#include "tst_session.moc"
