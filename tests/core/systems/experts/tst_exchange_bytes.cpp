// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of exchanges against every rank sending a token for every set of experts that it may choose.
#include "tests/core/systems/experts/exchange_cases.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <bit>
#include <cmath>
#include <set>

using namespace trainyard;

namespace {

struct Shape {
    int ranks, together, experts, choices;
    std::vector<int> perSite;
};

/// What every rank sends and receives over each way, a token's bytes being 1, one token for each set of experts.
class Ledger {
public:
    Ledger(const Shape &shape, MoeDispatch dispatch)
        : m_shape(shape)
        , m_dispatch(dispatch)
        , m_sent(std::size_t(shape.ranks))
        , m_received(m_sent)
    {
        for (int from = 0; from < shape.ranks; ++from) {
            m_sets = 0;
            for (unsigned set = 0; set < 1u << shape.experts; ++set) {
                if (std::popcount(set) == shape.choices) {
                    ++m_sets;
                    route(from, set);
                }
            }
        }
    }

    [[nodiscard]] double sentBy(int rank, Way way) const
    {
        return m_sent[std::size_t(rank)][std::size_t(way)] / m_sets;
    }
    [[nodiscard]] double sent(Way way) const { return sum(m_sent, way); }
    [[nodiscard]] double received(Way way) const { return sum(m_received, way); }
    [[nodiscard]] int site(int rank) const
    {
        int index = 0, end = m_shape.perSite.empty() ? m_shape.ranks : m_shape.perSite[0];
        while (rank >= end)
            end += m_shape.perSite[std::size_t(++index)];
        return index;
    }

private:
    using Bytes = std::vector<std::array<double, kWayCount>>;

    [[nodiscard]] double sum(const Bytes &bytes, Way way) const
    {
        double all = 0;
        for (const auto &rank : bytes)
            all += rank[std::size_t(way)];
        return all / m_sets;
    }
    [[nodiscard]] int node(int rank) const { return rank / m_shape.together; }
    [[nodiscard]] Way way(int from, int to) const
    {
        return node(from) == node(to) ? Way::Nvlink : site(from) == site(to) ? Way::Nic : Way::Wan;
    }
    void send(int from, int to)
    {
        if (from == to)
            return;
        const auto index = std::size_t(way(from, to));
        m_sent[std::size_t(from)][index] += 1;
        m_received[std::size_t(to)][index] += 1;
    }
    /// The rank of a node with the same number in its own.
    [[nodiscard]] int twin(int rank, int ofNode) const { return ofNode * m_shape.together + rank % m_shape.together; }

    void route(int from, unsigned set)
    {
        std::vector<int> visits;
        for (int expert = 0; expert < m_shape.experts; ++expert) {
            if ((set >> expert & 1u) != 0)
                visits.push_back(expert * m_shape.ranks / m_shape.experts);
        }
        const std::set<int> ranks(visits.begin(), visits.end());
        if (m_dispatch == MoeDispatch::Flat) {
            for (const int to : visits)
                send(from, to);
        } else if (m_dispatch == MoeDispatch::RankDedup) {
            for (const int to : ranks)
                send(from, to);
        } else if (m_dispatch == MoeDispatch::AllGather) {
            gatherAll(from);
        } else if (m_dispatch == MoeDispatch::Hierarchical) {
            for (const int to : visits) {
                const int here = node(from) * m_shape.together + to % m_shape.together;
                send(from, here);
                send(here, to);
            }
        } else {
            deduplicate(from, ranks);
        }
    }

    void deduplicate(int from, const std::set<int> &ranks)
    {
        std::set<int> nodes;
        for (const int rank : ranks)
            nodes.insert(node(rank));
        std::vector<int> entry(m_shape.perSite.size() + 1, -1); // of each site, who has the token first
        entry[std::size_t(site(from))] = from;
        for (const int visited : nodes) {
            const int to = twin(from, visited);
            int &first = entry[std::size_t(site(to))];
            send(first >= 0 ? first : from, to);
            first = first >= 0 ? first : to;
            for (const int rank : ranks) {
                if (node(rank) == visited)
                    send(to, rank);
            }
        }
    }

    /// In one datacenter: the twins of other nodes, then all of each node.
    void gatherAll(int from)
    {
        for (int to = 0; to < m_shape.ranks; ++to) {
            if (site(to) == site(from) && to % m_shape.together == from % m_shape.together) {
                send(from, to);
                for (int k = 0; k < m_shape.together; ++k)
                    send(to, node(to) * m_shape.together + k);
            }
        }
    }

    const Shape &m_shape;
    MoeDispatch m_dispatch;
    Bytes m_sent, m_received;
    double m_sets = 0;
};

const std::vector<Shape> kShapes = { { 4, 4, 8, 2, {} }, { 4, 2, 8, 2, {} }, { 4, 1, 8, 3, {} }, { 8, 2, 8, 2, {} },
    { 8, 4, 16, 3, {} }, { 8, 2, 8, 3, { 4, 4 } }, { 6, 2, 12, 2, { 2, 4 } }, { 6, 1, 6, 3, { 2, 4 } },
    { 12, 2, 12, 3, { 4, 4, 4 } } };

} // namespace

class TestExchangeBytes : public QObject {
    Q_OBJECT

private slots:
    void bytesAreThoseOfEveryChoice_data();
    void bytesAreThoseOfEveryChoice();
    void whatIsSentIsReceived_data() { bytesAreThoseOfEveryChoice_data(); }
    void whatIsSentIsReceived();
    void slicesSendTheirPartOfIt();
};

void TestExchangeBytes::bytesAreThoseOfEveryChoice_data()
{
    QTest::addColumn<int>("shape");
    QTest::addColumn<int>("dispatch");
    for (int shape = 0; shape < int(kShapes.size()); ++shape) {
        for (const MoeDispatch dispatch : { MoeDispatch::Flat, MoeDispatch::RankDedup, MoeDispatch::Dedup,
                 MoeDispatch::Hierarchical, MoeDispatch::AllGather }) {
            if (dispatch != MoeDispatch::AllGather || kShapes[std::size_t(shape)].perSite.empty())
                QTest::addRow("shape %d, dispatch %d", shape, int(dispatch)) << shape << int(dispatch);
        }
    }
}

/// Bytes of a leg = mean over all sets of experts, of a rank in the smallest datacenter.
void TestExchangeBytes::bytesAreThoseOfEveryChoice()
{
    QFETCH(int, shape);
    QFETCH(int, dispatch);
    const Shape &s = kShapes[std::size_t(shape)];
    const Ledger ledger(s, MoeDispatch(dispatch));
    ExchangeRequest request = ofRanks(s.ranks, s.together, s.experts, s.choices);
    request.group.perSite = s.perSite;
    request.tokens.tokens = request.tokens.dispatchBytes = 1;
    const Exchange exchange = exchangeOf(request, MoeDispatch(dispatch), false, 1);
    const bool isEven = s.perSite.empty() || s.perSite.front() == s.perSite.back();
    for (const Way way : { Way::Nvlink, Way::Nic, Way::Wan }) {
        // What others hand on for it, a rank hands on for others: of equal sites the mean over ranks, else its own.
        const bool isOwn = !isEven && MoeDispatch(dispatch) != MoeDispatch::Hierarchical
            && MoeDispatch(dispatch) != MoeDispatch::Dedup;
        if (!isEven && !isOwn)
            continue;
        const double expected = isOwn ? ledger.sentBy(0, way) : ledger.sent(way) / s.ranks;
        QVERIFY2(std::abs(exchange.bytes(way) - expected) < 1e-9,
            qPrintable(QStringLiteral("way %1: %2, not %3").arg(int(way)).arg(exchange.bytes(way)).arg(expected)));
    }
    if (!isEven) // whatever way it takes, every copy is sent
        QVERIFY(exchange.bytes(Way::Wan) > 0);
}

/// Over all ranks, of every link.
void TestExchangeBytes::whatIsSentIsReceived()
{
    QFETCH(int, shape);
    QFETCH(int, dispatch);
    const Shape &s = kShapes[std::size_t(shape)];
    const Ledger ledger(s, MoeDispatch(dispatch));
    ExchangeRequest request = ofRanks(s.ranks, s.together, s.experts, s.choices);
    request.tokens.tokens = request.tokens.dispatchBytes = request.tokens.combineBytes = 1;
    request.group.perSite = s.perSite;
    const Exchange there = exchangeOf(request, MoeDispatch(dispatch), false, 1),
                   back = exchangeOf(request, MoeDispatch(dispatch), true, 1);
    for (const Way way : { Way::Nvlink, Way::Nic, Way::Wan }) {
        QVERIFY(std::abs(ledger.sent(way) - ledger.received(way)) < 1e-9);
        QVERIFY(std::abs(there.bytes(way) - back.bytes(way)) < 1e-9); // what came goes back the same way
    }
}

void TestExchangeBytes::slicesSendTheirPartOfIt()
{
    for (const Shape &s : kShapes) {
        ExchangeRequest request = ofRanks(s.ranks, s.together, s.experts, s.choices);
        request.group.perSite = s.perSite;
        request.group.sameTokens = { 4, 4, request.group.inside, request.group.between };
        const Exchange flat = exchangeOf(request, MoeDispatch::Flat, false, 1),
                       sliced = exchangeOf(request, MoeDispatch::TensorSliced, false, 1);
        for (const Way way : { Way::Nvlink, Way::Nic, Way::Wan })
            QVERIFY(std::abs(sliced.bytes(way) - flat.bytes(way) / 4) < 1e-9);
    }
}

TRAINYARD_APPLESS_TEST(TestExchangeBytes)
#include "tst_exchange_bytes.moc"
