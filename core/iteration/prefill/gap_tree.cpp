// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/gap_tree.h"

#include <algorithm>

namespace trainyard {

GapTree::GapTree(const std::vector<FreeWindow> &windows, Nanoseconds shortest)
    : m_shortest(std::max<Nanoseconds>(1, shortest))
{
    m_nodes.reserve(windows.size());
    for (const FreeWindow &window : windows) {
        if (window.length() >= m_shortest)
            add(window.start, window.end);
    }
}

std::optional<Nanoseconds> GapTree::firstFit(Nanoseconds from, Nanoseconds length) const
{
    const Index node = find(m_root, from, length);
    return node == kNone ? std::nullopt : std::optional(std::max(m_nodes[node].start, from));
}

void GapTree::take(Nanoseconds place, Nanoseconds length)
{
    const FreeWindow rest = cut(m_root, place, place + length);
    if (rest.length() > 0)
        add(rest.start, rest.end);
}

GapTree::Index GapTree::find(Index root, Nanoseconds from, Nanoseconds length) const
{
    while (root != kNone && m_nodes[root].longest >= length) {
        const Node &node = m_nodes[root];
        if (node.end > from) {
            if (const Index earlier = find(node.left, from, length); earlier != kNone)
                return earlier;
            if (std::max(node.start, from) + length <= node.end)
                return root;
        }
        root = node.right;
    }
    return kNone;
}

void GapTree::add(Nanoseconds start, Nanoseconds end)
{
    m_random ^= m_random << 13; // xorshift: the shape of the tree is the same on every machine
    m_random ^= m_random >> 17;
    m_random ^= m_random << 5;
    m_nodes.push_back({ start, end, end - start, kNone, kNone, m_random });
    insert(m_root, Index(m_nodes.size() - 1));
}

void GapTree::insert(Index &root, Index node)
{
    if (root == kNone) {
        root = node;
    } else if (m_nodes[node].priority > m_nodes[root].priority) {
        split(root, m_nodes[node].start, m_nodes[node].left, m_nodes[node].right);
        root = node;
    } else {
        Node &parent = m_nodes[root];
        insert(m_nodes[node].start < parent.start ? parent.left : parent.right, node);
    }
    update(root);
}

/// Nodes that start before `start` go left.
void GapTree::split(Index root, Nanoseconds start, Index &left, Index &right)
{
    if (root == kNone) {
        left = right = kNone;
        return;
    }
    if (m_nodes[root].start < start) {
        left = root;
        split(m_nodes[root].right, start, m_nodes[root].right, right);
    } else {
        right = root;
        split(m_nodes[root].left, start, left, m_nodes[root].left);
    }
    update(root);
}

/// Takes [from, to) out of the gap that holds it. What is left behind the slot, and is not in its place in the tree, is
/// returned.
FreeWindow GapTree::cut(Index root, Nanoseconds from, Nanoseconds to)
{
    Node &node = m_nodes[root];
    FreeWindow rest;
    if (from < node.start) {
        rest = cut(node.left, from, to);
    } else if (from >= node.end) {
        rest = cut(node.right, from, to);
    } else if (from - node.start < m_shortest) {
        node.start = to;
    } else {
        if (node.end - to >= m_shortest)
            rest = { to, node.end };
        node.end = from;
    }
    update(root);
    return rest;
}

void GapTree::update(Index index)
{
    Node &node = m_nodes[index];
    node.longest = node.end - node.start;
    for (const Index child : { node.left, node.right }) {
        if (child != kNone)
            node.longest = std::max(node.longest, m_nodes[child].longest);
    }
}

} // namespace trainyard
