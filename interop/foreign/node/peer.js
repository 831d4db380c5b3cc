// One end of a uTP connection by utp-native, libutp's binding for Node.
//
//   node peer.js receive              prints its address, reads to the end, prints the number of bytes and their SHA-256
//   node peer.js send HOST:PORT N     writes N bytes of the pattern and ends; stays until its input ends
const crypto = require('crypto')
const utp = require('utp-native')

function pattern (length) {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = (at * 31) & 255
  return bytes
}

function receive () {
  const server = utp.createServer(socket => {
    const hash = crypto.createHash('sha256')
    let count = 0
    socket.on('data', data => { count += data.length; hash.update(data) })
    socket.on('end', () => {
      console.log(`${count} ${hash.digest('hex')}`)
      socket.end()
    })
    socket.on('error', error => { console.error(error.message); process.exit(1) })
  })
  server.listen(0, '127.0.0.1', () => console.log(`127.0.0.1:${server.address().port}`))
}

function send (to, length) {
  const [host, port] = to.split(':')
  const socket = utp.connect(Number(port), host)
  socket.on('error', error => { console.error(error.message); process.exit(1) })
  socket.resume()
  socket.end(pattern(length))
}

const [role, to, length] = process.argv.slice(2)
role === 'receive' ? receive() : send(to, Number(length))
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
