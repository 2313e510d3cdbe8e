#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A layer written down, with numbers that can be followed by hand, and a page that shows it.

#include "views/layer/layer_canvas.h"
#include "views/layer/layer_page.h"
#include "views/theme/theme.h"
#include "views/timeline/span_card.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

namespace trainyard {

/// Dispatch: 400 us over the NIC in two pieces, each then 100 us over NVLink; combine 300 us over the NIC. Nothing is
/// shared: 50 + 200 + 200 + 100 dispatching, 600 products, 300 combine.
inline LayerWork writtenLayer()
{
    const Exchange dispatch { .legs = { { .way = Way::Nic, .bytes = 20e6, .moving = microseconds(400) },
                                  { .way = Way::Nvlink, .bytes = 40e6, .moving = microseconds(200), .after = 0 } },
        .pieces = 2,
        .logicalBytes = 35e6 };
    return { .fullest = { .before = microseconds(100), .router = microseconds(50), .products = microseconds(600) },
        .dispatch = dispatch,
        .combine = { .legs = { { .way = Way::Nic, .bytes = 15e6, .moving = microseconds(300) } },
            .logicalBytes = 30e6 },
        .beside = {} };
}

inline ExpertLayer writtenOpening(bool hasPair = true)
{
    ExpertLayer layer;
    layer.stage = 3;
    layer.request.group.ranks = 16;
    layer.request.group.together = 8;
    layer.request.tokens = { .tokens = 4096, .choices = 8, .experts = 256 };
    layer.choice.dispatch = MoeDispatch::TensorSliced;
    layer.choice.forwardPieces = layer.choice.backwardPieces = 2;
    layer.choice.why = "Two pieces take 1.25 ms, one takes 1.5 ms";
    layer.forward = layer.backward = writtenLayer();
    layer.backward.isBackward = true;
    layer.backward.fullest.products = microseconds(1200);
    layer.backward.meanShare = 0.5;
    if (hasPair)
        layer.pair = PairWork { layer.forward, layer.backward };
    layer.forwardTimes = layerTimes(layer.forward);
    layer.backwardTimes = layerTimes(layer.backward);
    return layer;
}

/// With what is found said by the test.
struct LayerFixture {
    std::optional<ExpertLayer> found = writtenOpening();
    std::atomic<int> asked = 0;
    LayerOpener opener { [this](const Evaluation &) -> ExpectedAll<std::optional<ExpertLayer>> {
        ++asked;
        return found;
    } };
    LayerPage page { opener };

    explicit LayerFixture(QSize size = { 1280, 640 })
    {
        applyTheme(*qApp, ThemeKind::Dark);
        page.resize(size);
    }
    void open(LayerPass pass = LayerPass::Forward)
    {
        page.showPass(pass);
        page.show();
        opener.setEvaluation(std::make_shared<const Evaluation>());
        QTRY_VERIFY(page.layer() != nullptr);
        QApplication::processEvents();
    }
    [[nodiscard]] std::size_t span(LayerStep step, int piece = 0, LayerStream stream = LayerStream::Compute) const
    {
        const std::vector<LayerSpan> &spans = page.canvas->chart().spans;
        for (std::size_t i = 0; i < spans.size(); ++i)
            if (spans[i].step == step && spans[i].piece == piece && spans[i].track.stream == stream)
                return i;
        qFatal("no such span");
    }
    [[nodiscard]] QPoint at(std::size_t span) const { return page.canvas->rectOf(span).center().toPoint(); }
};

} // namespace trainyard
