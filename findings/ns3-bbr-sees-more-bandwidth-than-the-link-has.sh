#!/bin/sh
# ns-3 3.44 has BBR see more bandwidth than the link has. Its rate sample lives as long as the connection. An ack all of whose packets left
# at the same count of delivered bytes as the newest packet of the ack before takes the interval of that ack, and the bytes delivered since.
# Linux begins each ack with an empty sample. The maximum of ten rounds keeps what is too much, so the pacing rate of BBR's steady phases is
# above the link's, where it should be 1 % below, and a queue stands. As of July 2026 it is so in the development tree, too
# (src/internet/model/tcp-rate-ops.cc).
#
# One BBR flow over 10 Mbit/s and 50 ms, with a buffer of 42 packets (a BDP), 40 s from 15 s. "fresh" empties the sample after each ack:
#
#   as it is: paces at 102.1 % of the link, mean queue 33.4 ms, 0.5 % dropped
#   fresh: paces at 99.0 % of the link, mean queue 5.5 ms, 0.0 % dropped
#
# It needs python3 with pip and g++, and takes two minutes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install -q --no-deps ns3==3.44.post0
cat >one.cc <<'C'
#include <deque>
#include <dlfcn.h>
#include <iostream>
#include <sstream>
#define private public
#include "ns3/tcp-rate-ops.h"
#undef private
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static bool fresh;
static std::deque<Time> queued;
static double waited, most;
static uint64_t left, dropped;

static bool Measured() { return Simulator::Now() >= Seconds(15); }

// These take the places of the library's own two functions, which they call. The first one brings the class's table of functions along.
void TcpRateLinux::SkbSent(TcpTxItem* packet, bool starts) {
    using Own = void (*)(TcpRateLinux*, TcpTxItem*, bool);
    static auto own = (Own)dlsym(RTLD_NEXT, "_ZN3ns312TcpRateLinux7SkbSentEPNS_9TcpTxItemEb");
    own(this, packet, starts);
}

const TcpRateOps::TcpRateSample& TcpRateLinux::GenerateSample(uint32_t delivered, uint32_t lost, bool reneg, uint32_t flight, const Time& rtt) {
    using Own = const TcpRateSample& (*)(TcpRateLinux*, uint32_t, uint32_t, bool, uint32_t, const Time&);
    static auto own = (Own)dlsym(RTLD_NEXT, "_ZN3ns312TcpRateLinux14GenerateSampleEjjbjRKNS_4TimeE");
    static TcpRateSample sample;
    sample = own(this, delivered, lost, reneg, flight, rtt);
    if (fresh) m_rateSample.m_priorDelivered = 0, m_rateSample.m_priorTime = Time(0);
    return sample;
}

int main(int argc, char** argv) {
    fresh = argc > 1;
    const double link = 10e6, payload = link * 1448 / 1500;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpBbr"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    NodeContainer nodes(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper fast, slow;
    fast.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    fast.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link * 1502 / 1500)));
    slow.SetChannelAttribute("Delay", StringValue("25ms"));
    slow.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("42p"));
    NetDeviceContainer near = fast.Install(nodes.Get(0), nodes.Get(1)), far = slow.Install(nodes.Get(1), nodes.Get(2));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.NewNetwork();
    Ipv4Address there = addresses.Assign(far).GetAddress(1);
    TrafficControlHelper().Uninstall(near);
    TrafficControlHelper().Uninstall(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    auto queue = DynamicCast<PointToPointNetDevice>(far.Get(0))->GetQueue();
    queue->TraceConnectWithoutContext("Enqueue", Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) { queued.push_back(Simulator::Now()); }));
    queue->TraceConnectWithoutContext("Dequeue", Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) {
        if (Measured()) waited += (Simulator::Now() - queued.front()).GetSeconds(), left++;
        queued.pop_front();
    }));
    nodes.Get(1)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
        "TcDrop", Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) { dropped += Measured(); }));
    PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000)).Install(nodes.Get(2));
    BulkSendHelper("ns3::TcpSocketFactory", InetSocketAddress(there, 5000)).Install(nodes.Get(0));
    Simulator::Schedule(Seconds(15), [] {
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/PacingRate",
                                      Callback<void, DataRate, DataRate>([](DataRate, DataRate rate) {
                                          // Not what a probe for the round-trip time has left.
                                          if (Simulator::Now() < Seconds(20)) most = std::max(most, 1.0 * rate.GetBitRate());
                                      }));
    });
    Simulator::Stop(Seconds(55));
    Simulator::Run();
    std::cout.setf(std::ios::fixed);
    std::cout.precision(1);
    std::cout << (fresh ? "fresh" : "as it is") << ": paces at " << 100 * most / 1.25 / payload << " % of the link, mean queue "
              << 1e3 * waited / left << " ms, " << 100.0 * dropped / (dropped + left) << " % dropped\n";
}
C
root=$(dirname "$(find "$dir/venv" -path '*/ns3/lib64' -type d)")
libraries=$(ls "$root"/lib64/libns3.44-*.so | grep -E -- '-(core|network|internet|point-to-point|applications|traffic-control|bridge|stats|mobility)\.so')
# shellcheck disable=SC2086
g++ -std=c++20 -O1 -I"$root/include" one.cc -o one -Wl,--no-as-needed $libraries -ldl -Wl,-rpath,"$root/lib64"
./one
./one fresh
