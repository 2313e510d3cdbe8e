// SPDX-License-Identifier: GPL-3.0-or-later
// Packed bodies: every encoding that servers and senders use gives the text back, and none of them grows beyond bounds.

#include "core/live/net/unpack.h"
#include "tests/support/test_program.h"

#include <zlib.h>

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::live::net;

namespace {

/// As zlib packs it: `windowBits` 31 gzip, 15 with zlib's frame, -15 without.
std::string packed(const std::string &text, int windowBits)
{
    z_stream stream {};
    deflateInit2(&stream, 9, Z_DEFLATED, windowBits, 9, Z_DEFAULT_STRATEGY);
    std::string bytes(deflateBound(&stream, uLong(text.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream.avail_in = uInt(text.size());
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
    stream.avail_out = uInt(bytes.size());
    deflate(&stream, Z_FINISH);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

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
