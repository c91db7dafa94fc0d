// pg-boss doing jobs that do nothing. Prints one JSON line: jobs a second between the first and the last batch.
//   node boss.mjs SOCKET-FOLDER DATABASE setup | run MILLISECONDS [BATCH WORKERS [loop]]
import { PgBoss } from 'pg-boss'

const QUEUE = 'mail'
const [host, database, verb, ms = '1000', batch = '1000', workers = '2', how = 'work'] = process.argv.slice(2)
const boss = new PgBoss({
  host, database, user: 'pawl', max: 10,
  // What is due was made beforehand: no schedules, no statistics, no upkeep meanwhile.
  supervise: verb === 'setup', schedule: false, migrate: verb === 'setup'
})
boss.on('error', (error) => { console.error(error); process.exitCode = 1 })
await boss.start()
if (verb === 'setup') {
  await boss.createQueue(QUEUE)
  await boss.stop()
  process.exit()
}

const size = Number(batch)
let first = 0, last = 0, jobs = 0, begin = Date.now()
const seen = (n) => {
  last = performance.now()
  if (first === 0) first = last
  else jobs += n
}

if (how === 'work') {
  await boss.work(QUEUE, {
    batchSize: size, localConcurrency: Number(workers), burstWhenBatchFull: true, pollingIntervalSeconds: 0.5
  }, async (some) => { seen(some.length) })
  await new Promise((done) => setTimeout(done, Number(ms)))
} else {
  const loop = async () => {
    while (Date.now() - begin < Number(ms)) {
      const some = await boss.fetch(QUEUE, { batchSize: size })
      if (some.length === 0) return
      await boss.complete(QUEUE, some.map((job) => job.id))
      seen(some.length)
    }
  }
  await Promise.all(Array.from({ length: Number(workers) }, loop))
}
const result = { jobs, seconds: (last - first) / 1000 }
await boss.stop({ graceful: true, timeout: 5000 })
console.log(JSON.stringify(result))
process.exit()
