// SPDX-License-Identifier: GPL-3.0-or-later
// Experts that work piece by piece while tokens travel, against the closed form of FSMoE (section 4, equation 1): an
// all-to-all over NICs, a gather over NVLink, products, and both ways back.
#include "tests/core/systems/experts/layers.h"
#include "tests/support/test_program.h"

#include <array>

using namespace trainyard;

namespace {

constexpr double kNic = 12e9, kNvlink = 50e9; // bytes/s, the full rate of a leg

/// Seconds of a piece: alpha + n beta / r.
struct Part {
    double start = 0, moving = 0;
    [[nodiscard]] double piece(int pieces) const { return start + moving / pieces; }
};

struct Layer {
    Part allToAll, gather, products, scatter;
    int pieces = 1;
};

enum class Bound : std::uint8_t { Gradients, Products, AllToAll, Nvlink };

/// Which of NICs (with gradients of other layers: `reduce`), products and NVLink never rests, and how long that is.
std::pair<Bound, double> closedForm(const Layer &layer, double reduce = 0)
{
    const int r = layer.pieces;
    const double a2a = layer.allToAll.piece(r), both = layer.gather.piece(r) + layer.scatter.piece(r),
                 products = r * layer.products.piece(r), others = 2 * (r - 1) * a2a;
    const bool q1 = a2a > layer.gather.piece(r), q2 = products > others, q3 = products > (r - 1) * both,
               q4 = reduce > both, q5 = reduce > products - others + both, q6 = reduce > r * both - others,
               q7 = reduce > both + products - others;
    if (q1 ? (q2 ? q5 : q4) : (q3 ? q7 : q6))
        return { Bound::Gradients, 2 * r * a2a + reduce };
    if (q1 ? q2 : q3)
        return { Bound::Products, 2 * a2a + both + products };
    return q1 ? std::pair(Bound::AllToAll, 2 * r * a2a + both) : std::pair(Bound::Nvlink, 2 * a2a + r * both);
}

LayerWork workOf(const Layer &layer)
{
    const auto leg = [](Way way, const Part &part, int after, double rate) {
        Leg made { way, part.moving * rate, Seconds { part.start }, Seconds { part.moving } };
        made.after = after;
        return made;
    };
    LayerWork work;
    work.dispatch.pieces = work.combine.pieces = layer.pieces;
    work.dispatch.legs = { leg(Way::Nic, layer.allToAll, -1, kNic), leg(Way::Nvlink, layer.gather, 0, kNvlink) };
    work.combine.legs = { leg(Way::Nvlink, layer.scatter, -1, kNvlink), leg(Way::Nic, layer.allToAll, 0, kNic) };
    work.fullest.products = Seconds { layer.products.start * layer.pieces + layer.products.moving };
    work.productsInPieces = true;
    work.nicBandwidth = kNic;
    work.nvlinkBandwidth = kNvlink;
    return work;
}

/// Its fits of two testbeds, in ms and ms a float: 32 RTX 2080 Ti, 48 A6000 (of these the gather as its scatter: what
/// is printed for it is ten times as slow).
struct Fits {
    Part allToAll, gather, scatter, products;
};
constexpr Fits kFits[] = { { { .175, 3.06e-7 }, { .032, 1.68e-7 }, { .0391, 1.67e-7 }, { .0924, 4.42e-11 } },
    { { .287, 2.21e-7 }, { .395, 2.34e-7 }, { .395, 2.34e-7 }, { .0426, 2.29e-11 } } };

Layer randomLayer(layers::Drawing &drawing, int pieces)
{
    const Fits &fits = kFits[drawing.pick(2)];
    const double floats = std::pow(10, drawing.uniform(5.5, 8)), width = std::pow(10, drawing.uniform(2.5, 4.5));
    const auto part = [](const Part &fit, double count) {
        return Part { fit.start * 1e-3, fit.moving * count * 1e-3 };
    };
    Layer layer { part(fits.allToAll, floats), part(fits.gather, floats), part(fits.products, 4 * floats * width),
        part(fits.scatter, floats), pieces };
    layer.products.start *= 2; // two products
    return layer;
}

} // namespace

class TestFsmoe : public QObject {
    Q_OBJECT

private slots:
    void onePieceIsOneAfterTheOther();
    void piecesAreThoseOfTheClosedForm();
    void gradientsBesideCostNoMoreThanThemselves();
};

void TestFsmoe::onePieceIsOneAfterTheOther()
{
    layers::Drawing drawing { std::mt19937(41) };
    for (int i = 0; i < 200; ++i) {
        const Layer layer = randomLayer(drawing, 1);
        const double expected =
            2 * layer.allToAll.piece(1) + layer.gather.piece(1) + layer.scatter.piece(1) + layer.products.piece(1);
        QVERIFY(std::abs(layerTimes(workOf(layer)).total.value - expected) < 1e-8);
        QVERIFY(std::abs(closedForm(layer).second - expected) < 1e-12);
    }
}

/// Forward: equal to the nanoseconds that spans are rounded to, whatever never rests.
void TestFsmoe::piecesAreThoseOfTheClosedForm()
{
    layers::Drawing drawing { std::mt19937(42) };
    std::array<int, 4> bounds {};
    for (int i = 0; i < 2000; ++i) {
        const Layer layer = randomLayer(drawing, 2 << drawing.pick(4));
        const auto [bound, expected] = closedForm(layer);
        const double ours = layerTimes(workOf(layer)).total.value;
        ++bounds[std::size_t(bound)];
        QVERIFY2(std::abs(ours - expected) < (4 * layer.pieces + 4) * 1e-9,
            qPrintable(QStringLiteral("%1, not %2").arg(ours).arg(expected)));
    }
    QCOMPARE(bounds[std::size_t(Bound::Gradients)], 0);
    for (const Bound bound : { Bound::Products, Bound::AllToAll, Bound::Nvlink })
        QVERIFY2(bounds[std::size_t(bound)] > 50, qPrintable(QString::number(int(bound))));
}

/// Backward, with a slice of gradients on the NICs and no starts. The closed form puts the slice where NICs would rest;
/// here it begins with the layer and halves what they give to tokens meanwhile. So a layer ends no earlier than the
/// closed form, and no later than if the slice came first. (With starts it may end earlier: here they hold no wire,
/// there they do.)
void TestFsmoe::gradientsBesideCostNoMoreThanThemselves()
{
    layers::Drawing drawing { std::mt19937(43) };
    std::array<int, 4> bounds {};
    int near = 0;
    for (int i = 0; i < 2000; ++i) {
        Layer layer = randomLayer(drawing, 2 << drawing.pick(4));
        for (Part *part : { &layer.allToAll, &layer.gather, &layer.products, &layer.scatter })
            part->start = 0;
        const double reduce = closedForm(layer).second * drawing.uniform(0.01, 1);
        LayerWork work = workOf(layer);
        work.beside = { { Way::Nic, reduce * kNic, {}, Seconds { reduce } } };
        const auto [bound, expected] = closedForm(layer, reduce);
        const double ours = layerTimes(work).total.value, tolerance = (8 * layer.pieces + 8) * 1e-9;
        ++bounds[std::size_t(bound)];
        near += bound != Bound::Gradients && ours < expected * 1.05 ? 1 : 0;
        // Nothing waits for the slice: where it is what lasts longest the closed form counts its end, not the layer's.
        const double least = bound == Bound::Gradients ? closedForm(layer).second : expected;
        QVERIFY2(ours > least - tolerance, qPrintable(QStringLiteral("%1, not %2").arg(ours).arg(least)));
        QVERIFY(ours < closedForm(layer).second + reduce + tolerance);
    }
    QVERIFY(near > bounds[1] / 3); // as many as a third of those that wait for products are within 5 %
    for (const int count : bounds)
        QVERIFY(count > 20);
}

TRAINYARD_APPLESS_TEST(TestFsmoe)
#include "tst_fsmoe.moc"
