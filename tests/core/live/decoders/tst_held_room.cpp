// SPDX-License-Identifier: GPL-3.0-or-later
// What strangers make decoders hold, all connections together.
#include "core/live/decoder.h"
#include "core/live/decoders/held_room.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace trainyard;
using namespace trainyard::live;

namespace {

constexpr Moment kReceived = 1'760'000'000'000'000'000;

/// Lines that name so many different ranks, hosts, spans and series, each of some hundred bytes.
std::string naming(int connection, int from, int count)
{
    std::string lines;
    for (int i = from; i < from + count; ++i) {
        const std::string name = std::to_string(connection) + "_" + std::to_string(i) + "_" + std::string(240, 'x');
        lines += "{\"event\":\"span\",\"rank\":" + std::to_string(i) + ",\"host\":\"" + name
            + "\",\"stream\":\"s\",\"name\":\"" + name + "\",\"start_ns\":1760000000000000000,\"duration_ns\":1}\n";
        lines += "{\"event\":\"sample\",\"name\":\"" + name + "\",\"unit\":\"1\",\"where\":\"" + name
            + "\",\"value\":1,\"step\":1}\n";
    }
    return lines;
}

std::int64_t spansOf(Decoder &decoder, const std::string &lines)
{
    std::int64_t spans = 0;
    const auto read =
        decoder.take(lines, kReceived, [&](Batch &&batch) { spans += std::int64_t(batch.part.spanCount()); });
    return read ? spans : -1;
}

} // namespace

class TestHeldRoom : public QObject {
    Q_OBJECT

private slots:
    void aRoomGivesBackWhatItTook()
    {
        const std::int64_t before = HeldRoom::ofAll();
        {
            HeldRoom room;
            QVERIFY(room.take(HeldRoom::kAlways));
            QCOMPARE(HeldRoom::ofAll(), before); // which each has for itself
            QVERIFY(room.take(1'000));
            QCOMPARE(HeldRoom::ofAll(), before + 1'000);
            room.giveBack(1'500);
            QCOMPARE(HeldRoom::ofAll(), before);
            QVERIFY(!room.take(std::size_t(HeldRoom::kMostOfAll)));
            QCOMPARE(room.held(), HeldRoom::kAlways - 500);
        }
        QCOMPARE(HeldRoom::ofAll(), before);
    }

    /// Eight connections that name 20,000 of everything would hold half a gigabyte.
    void manyConnectionsThatNameMuchHoldNoMoreThanAFew()
    {
        const std::int64_t before = HeldRoom::ofAll();
        {
            std::vector<DecoderPtr> all;
            for (int c = 0; c < 8; ++c) {
                all.push_back(makeLinesDecoder("peer"));
                for (int from = 0; from < 20'000; from += 1'000)
                    QVERIFY(spansOf(*all.back(), naming(c, from, 1'000)) >= 0);
                QVERIFY(HeldRoom::ofAll() <= HeldRoom::kMostOfAll);
            }
            QVERIFY(HeldRoom::ofAll() > HeldRoom::kMostOfAll / 2);
            // who comes then, and tells what a rank tells, is heard
            const DecoderPtr late = makeLinesDecoder("late");
            QCOMPARE(spansOf(*late, naming(99, 0, 20)), std::int64_t(20));
        }
        QCOMPARE(HeldRoom::ofAll(), before);
    }
};

TRAINYARD_APPLESS_TEST(TestHeldRoom)
#include "tst_held_room.moc"
