# The dumbbell of bench/speed.rs for ns-2: ns speed.tcl FLOWS RATE_BIT_S QUEUE_PACKETS SECONDS
# Prints the number of data packets sent. Packets are 1500 bytes, acks 40, the round-trip time is 50 ms.
lassign $argv flows rate queue seconds
set ns [new Simulator]
$ns use-scheduler Calendar
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate 25ms DropTail
$ns queue-limit $left $right $queue
$ns queue-limit $right $left $queue
for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [new Agent/TCP/Sack1]
    $tcp($i) set window_ 100000
    $tcp($i) set packetSize_ 1460
    $tcp($i) set overhead_ 0
    set sink($i) [new Agent/TCPSink/Sack1]
    $ns attach-agent $left $tcp($i)
    $ns attach-agent $right $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at [expr {($i * 37 % 1000) / 1000.0}] "$ftp($i) start"
}
proc finish {} {
    global tcp flows
    set sent 0
    for {set i 0} {$i < $flows} {incr i} { incr sent [$tcp($i) set ndatapack_] }
    puts $sent
    exit 0
}
$ns at $seconds "finish"
$ns run
