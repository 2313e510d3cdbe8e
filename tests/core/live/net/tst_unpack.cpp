// SPDX-License-Identifier: GPL-3.0-or-later
// Packed bodies: every encoding that servers and senders use gives the text back, and none of them grows beyond bounds.

#include "core/live/net/body_order.h"
#include "core/live/net/unpack.h"
#include "tests/support/packed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstddef>
#include <random>
#include <vector>

using namespace trainyard;
using namespace trainyard::live::net;
using test::packed;

namespace {

std::string numbers(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += std::to_string(i * 7919) + ' ';
    return text;
}

} // namespace

class TstUnpack : public QObject {
    Q_OBJECT

private slots:
    void everyEncodingGivesTheTextBack()
    {
        for (const std::string &text : { std::string(), std::string("a"), numbers(3), numbers(100'000) }) {
            QCOMPARE(unpack(text, ""), text);
            QCOMPARE(unpack(text, "identity"), text);
            QCOMPARE(unpack(packed(text, 31), "gzip"), text);
            QCOMPARE(unpack(packed(text, 31), "X-GZip"), text);
            QCOMPARE(unpack(packed(text, 15), "deflate"), text);
            QCOMPARE(unpack(packed(text, -15), "deflate"), text);
            QCOMPARE(unpack(packed(text, 31) + packed(text, 31), "gzip"), text + text);
        }
    }

    void whatGrowsBeyondEitherBoundIsRefused()
    {
        const std::string zeros(std::size_t(8) << 20, '\0'); // pack to 8 KiB: 1,000 times
        QCOMPARE(unpack(packed(zeros, 31), "gzip").error().code, ErrorCode::OutOfRange);
        QVERIFY(unpack(packed(zeros, 31), "gzip", { .ratio = 2'000 }).has_value());
        const std::string text = numbers(100'000);
        QCOMPARE(unpack(packed(text, 31), "gzip", { .bytes = text.size() - 1 }).error().code, ErrorCode::OutOfRange);
        QVERIFY(unpack(packed(text, 31), "gzip", { .bytes = text.size() }).has_value());
    }

    void smallBodiesGoFirstButALargeOneIsNotStarved()
    {
        struct Body {
            std::size_t bytes;
            int passed = 0;
            [[nodiscard]] std::size_t size() const { return bytes; }
        };
        std::vector<Body> waiting { { 1'000'000 }, { 500 } };
        const auto next = [&] {
            const std::size_t at = takeNext(waiting);
            const std::size_t bytes = waiting[at].bytes;
            waiting.erase(waiting.begin() + std::ptrdiff_t(at));
            return bytes;
        };
        QCOMPARE(next(), std::size_t(500));
        int before = 1;
        for (; waiting.front().bytes == 1'000'000 && before < 1'000; ++before) {
            waiting.push_back({ 10 }); // one more comes with each that goes
            if (next() == 1'000'000)
                break;
        }
        QCOMPARE(before, kMostPassed);
        QCOMPARE(waiting.size(), std::size_t(1));
        // what came earlier and waits as long goes first
        waiting = { { 30, kMostPassed }, { 20, kMostPassed }, { 10 } };
        QCOMPARE(next(), std::size_t(30));
        QCOMPARE(next(), std::size_t(20));
        QCOMPARE(next(), std::size_t(10));
    }

    void membersAreBoundedHoweverLittleEachOfThemHolds()
    {
        const std::string empty = packed("", 31), text = numbers(10);
        std::string few = packed(text, 31), many = few;
        for (int i = 0; i < 999; ++i)
            few += empty;
        QCOMPARE(unpack(few, "gzip"), text);
        for (int i = 0; i < 20'000; ++i)
            many += empty;
        const auto refused = unpack(many, "gzip");
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::OutOfRange);
    }

    void whatIsCutOffDamagedOrPackedOtherwiseIsRefused()
    {
        const std::string bytes = packed(numbers(1'000), 31);
        for (std::size_t size = 0; size < bytes.size(); size += 97)
            QCOMPARE(unpack(bytes.substr(0, size), "gzip").error().code, ErrorCode::BadSyntax);
        const auto other = unpack(bytes, "zstd");
        QCOMPARE(other.error().code, ErrorCode::BadValue);
        QCOMPARE(other.error().right, std::string("gzip, deflate or none"));
    }

    void damageNeverDoesMoreThanBeRefused()
    {
        const std::string text = numbers(2'000), bytes = packed(text, 31);
        std::mt19937 random(11);
        for (int round = 0; round < 1'000; ++round) {
            std::string damaged = bytes;
            for (int changes = 1 + int(random() % 4); changes > 0; --changes)
                damaged[random() % damaged.size()] = static_cast<char>(random());
            const auto read = unpack(damaged, "gzip");
            QVERIFY(!read || read->size() <= (std::size_t(1) << 20));
        }
    }
};

TRAINYARD_GUILESS_TEST(TstUnpack)
#include "tst_unpack.moc"
