// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/report_style.h"

namespace trainyard {

std::string_view reportStyle()
{
    return R"css(
:root { color-scheme: light dark; --window:#f2f4f7; --panel:#fff; --border:#dde2e9; --grid:#e8ecf1; --text:#1b2330; --muted:#566273;
  --accent:#1f6feb; --good:#0f7b45; --bad:#c02b2b; --warning:#9a5b00; --idle:#f1f4f8; --backward:#0b5fa5; --free:#e8ecf1; }
@media (prefers-color-scheme: dark) { :root { --window:#14171c; --panel:#1c2026; --border:#323943; --grid:#2a3039; --text:#e9edf3;
  --muted:#a3adbb; --accent:#58a6ff; --good:#4cc38a; --bad:#ff7b72; --warning:#e3a63b; --idle:#171b20; --backward:#1f77c0; --free:#2a3039; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--window); color: var(--text); font: 14px/1.5 Inter, "Noto Sans", "DejaVu Sans", system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 1200px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; font-weight: 600; }
h2 { font-size: 20px; margin: 40px 0 12px; font-weight: 600; }
h3 { font-size: 15px; margin: 0 0 10px; font-weight: 600; }
p { margin: 0 0 10px; } .muted { color: var(--muted); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin: 18px 0 10px; }
.tile, .card { background: var(--panel); border: 1px solid var(--border); border-radius: 8px; }
.tile { padding: 10px 12px; } .tile .label { color: var(--muted); font-size: 12px; }
.tile .value { font-size: 19px; font-weight: 600; white-space: nowrap; } .tile .note { color: var(--muted); font-size: 12px; min-height: 18px; }
.card { padding: 16px; margin: 12px 0; overflow-x: auto; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 12px; } .columns .card { margin: 0; }
table { border-collapse: collapse; width: 100%; } th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--muted); font-weight: 500; font-size: 12px; } th:first-child, td:first-child, .left { text-align: left; padding-left: 0; }
tr:last-child td { border-bottom: 0; } td.wide { white-space: normal; }
.good { color: var(--good); } .bad { color: var(--bad); } .warning { color: var(--warning); } .change { font-size: 12px; padding-left: 0; }
ul { margin: 0; padding-left: 20px; } .badge { display: inline-block; border: 1px solid currentColor; border-radius: 10px; padding: 0 9px; font-size: 12px; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--text); font-size: 11px; } svg .faint { fill: var(--muted); } svg .group { font-weight: 600; }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; } svg .ink-dark { fill: #10151c; font-size: 10px; } svg .ink-light { fill: #fff; font-size: 10px; }
svg .grid { stroke: var(--grid); } svg .track { fill: var(--idle); } svg .limit { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .site { fill: var(--panel); stroke: var(--border); } svg .link { fill: none; stroke: var(--muted); } svg .unused { stroke-dasharray: 4 3; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 8px; font-size: 12px; color: var(--muted); }
.legend svg { width: 11px; height: 11px; display: inline-block; margin-right: 6px; vertical-align: -1px; border-radius: 2px; } .legend b { color: var(--text); font-weight: 500; }
.k-forward, .b-compute, .m-weights { fill: #56b4e9; } .k-backward, .m-gradients { fill: var(--backward); } .k-input-gradient { fill: #2a6fb5; }
.k-forward-and-backward { fill: #4d6cd9; }
.k-weight-gradient { fill: #8fa8d8; } .k-recompute { fill: #8a929e; } .k-pipeline-transfer, .b-pipeline { fill: #f0c862; }
.k-wan-transfer, .b-wan, .m-activations { fill: #e69f00; } .k-collective, .b-tensor { fill: #9b7fd1; } .b-context { fill: #b79fe0; } .b-expert { fill: #6f56a8; }
.k-gradient-sync, .b-data, .m-optimizer { fill: #cc79a7; } .k-parameter-gather { fill: #dda9c6; } .k-optimizer, .b-optimizer { fill: #d55e00; }
.k-offload-store, .b-offload { fill: #b5a642; } .k-offload-load { fill: #f0e442; } .k-prefill { fill: #009e73; } .k-overhead, .b-overhead, .m-buffers { fill: #6c7683; } .b-bubble { fill: #aab2bd; }
.k-gradients-to-host { fill: #b05a8c; } .k-states-to-host { fill: #9c8a2e; } .k-drive-read { fill: #62b3ad; } .k-drive-write { fill: #2c7d78; }
.k-cpu-optimizer { fill: #b0521c; } .k-gpu-optimizer { fill: #f29a5c; } .k-states-to-gpu { fill: #d6c53c; } .k-weights-to-gpu { fill: #cf9ade; }
.m-reserve { fill: #a9b2be; } .m-free { fill: var(--free); }
@media print { body { background: #fff; } main { max-width: none; padding: 0; } .card, .tile { break-inside: avoid; } }
)css";
}

std::string_view jobStyle()
{
    return R"css(
.j-0 { fill: #2a5785; } .j-1 { fill: #8bbd25; } .j-2 { fill: #d4475a; } .j-3 { fill: #4044bf; } .j-4 { fill: #bda4d8; } .j-5 { fill: #aca24e; }
.j-6 { fill: #aa560c; } .j-7 { fill: #c443bb; } .j-8 { fill: #7d415e; } .j-9 { fill: #e19e8c; } .j-10 { fill: #415c2f; } .j-11 { fill: #289497; } .j-12 { fill: #8a929e; }
svg .bad { fill: var(--bad); } svg .bound { stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 2 3; } svg .curve { fill: none; stroke: var(--accent); stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
.j-0 { fill: #5179aa; } .j-1 { fill: #aee04b; } .j-2 { fill: #fd6c7a; } .j-3 { fill: #6d66e7; } .j-4 { fill: #e0c5fb; } .j-5 { fill: #cfc46e; }
.j-6 { fill: #d37832; } .j-7 { fill: #eb69e0; } .j-8 { fill: #a36481; } .j-9 { fill: #fcc2b3; } .j-10 { fill: #637f4f; } .j-11 { fill: #53b7ba; } }
)css";
}

} // namespace trainyard
