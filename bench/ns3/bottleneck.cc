// Flows of ns-3 through one bottleneck, for bench/ns3_bbr.rs:
//
//   bottleneck --flows=TcpBbr,TcpCubic --mbit=10 --rtt=50 --buffer=42 --seed=1 [--from=15 --to=55] [--ns3::CLASS::ATTRIBUTE=VALUE]
//
// Prints on a line: the first flow's share of the goodput (%), the mean queuing delay of packets (ms), the utilisation (%), and the packets
// that the queue dropped (%). A host sends over a fast link to a router, whose DropTail queue of BUFFER packets is the only one; the packet
// that is being sent is not in it. The receiver's acks have a fast link. A packet of 1500 B takes as long as without ns-3's frame of 2 B.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <deque>
#include <iostream>
#include <numeric>
#include <sstream>

using namespace ns3;

static const uint32_t PACKET = 1500, FRAME = 2, HEADERS = 52;

static std::deque<Time> enqueued;
static double waited = 0;
static uint64_t left = 0, bytes = 0, dropped = 0;
static bool measures = false;

static void Enqueue(Ptr<const Packet>) { enqueued.push_back(Simulator::Now()); }

static void Drop(Ptr<const Packet>) { dropped += measures; }

static void Dequeue(Ptr<const Packet> packet) {
    Time since = enqueued.front();
    enqueued.pop_front();
    if (!measures) return;
    waited += (Simulator::Now() - since).GetSeconds();
    left += 1;
    bytes += packet->GetSize() - FRAME;
}

static std::vector<double> Received(const ApplicationContainer& sinks) {
    std::vector<double> all;
    for (uint32_t i = 0; i < sinks.GetN(); i++) all.push_back(DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx());
    return all;
}

int main(int argc, char** argv) {
    std::string flows = "TcpBbr";
    double mbit = 10, rtt = 50, from = 15, to = 55;
    uint32_t buffer = 42, seed = 1;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PACKET - HEADERS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    // Linux' timers, and a timer of acks that is shorter: with ns-3's 200 ms a window of one packet would time out for ever.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    CommandLine line;
    line.AddValue("flows", "the flows' controllers", flows);
    line.AddValue("mbit", "rate of the bottleneck, Mbit/s", mbit);
    line.AddValue("rtt", "propagation delay of both ways, ms", rtt);
    line.AddValue("buffer", "packets in the queue", buffer);
    line.AddValue("seed", "seed", seed);
    line.AddValue("from", "begin of the measurement, s", from);
    line.AddValue("to", "end of the run, s", to);
    line.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer host(1), router(1), receiver(1);
    InternetStackHelper().InstallAll();
    double rate = mbit * 1e6 * (PACKET + FRAME) / PACKET;
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(100 * rate)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    NetDeviceContainer access = link.Install(host.Get(0), router.Get(0));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(500 * rtt)));
    NetDeviceContainer bottleneck = link.Install(router.Get(0), receiver.Get(0));
    auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
    device->SetDataRate(DataRate(rate));
    auto queue = device->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, buffer));
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Enqueue));
    queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Dequeue));
    // A full queue stops its device, and the layer above drops what comes meanwhile.
    auto above = router.Get(0)->GetObject<TrafficControlLayer>();
    above->TraceConnectWithoutContext("TcDrop", MakeCallback(&Drop));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(access);
    addresses.NewNetwork();
    Ipv4Address there = addresses.Assign(bottleneck).GetAddress(1);
    // No queue but the device's: addresses bring FQ-CoDel with them.
    TrafficControlHelper none;
    none.Uninstall(access);
    none.Uninstall(bottleneck);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    ApplicationContainer sinks;
    auto starts = CreateObject<UniformRandomVariable>();
    std::istringstream names(flows);
    uint16_t port = 5000;
    for (std::string name; std::getline(names, name, ',');) {
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port)).Install(receiver));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(there, port++));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        double start = starts->GetValue(0, 0.1);
        bulk.Install(host).Start(Seconds(start));
        // The kind is that of the node at the moment at which the socket opens.
        auto tcp = host.Get(0)->GetObject<TcpL4Protocol>();
        auto kind = TypeId::LookupByName("ns3::" + name);
        Simulator::Schedule(Seconds(start) - NanoSeconds(1), [=] { tcp->SetAttribute("SocketType", TypeIdValue(kind)); });
    }

    std::vector<double> before;
    Simulator::Schedule(Seconds(from), [&] { before = Received(sinks); measures = true; });
    Simulator::Stop(Seconds(to));
    Simulator::Run();
    std::vector<double> goodput = Received(sinks);
    for (size_t i = 0; i < goodput.size(); i++) goodput[i] -= before[i];
    double sum = std::accumulate(goodput.begin(), goodput.end(), 0.0);
    std::cout << 100 * goodput[0] / sum << " " << 1e3 * waited / left << " " << 100 * 8 * bytes / (to - from) / (mbit * 1e6) << " "
              << 100.0 * dropped / (dropped + left) << std::endl;
    Simulator::Destroy();
}
