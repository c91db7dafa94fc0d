// graphile-worker doing jobs that do nothing. Prints one JSON line: jobs between the first and the last one, and the time.
//   node graphile.mjs SOCKET-FOLDER DATABASE setup | run MILLISECONDS [LOCAL-QUEUE CONCURRENT]
// The settings are those its own documentation gives its best figures for (worker.graphile.org/docs/performance).
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'

const [host, database, verb, ms = '1000', local = '500', concurrent = '24'] = process.argv.slice(2)
const pgPool = new pg.Pool({ host, database, user: 'pawl', max: Number(concurrent) + 1 })
const logger = new Logger(() => (level, message) => { if (level === 'error') console.error(message) })
if (verb === 'setup') {
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  await utils.addJob('mail', {})
  await utils.release()
  await pgPool.end()
  process.exit()
}

let first = 0, last = 0, jobs = 0
const runner = await run({
  pgPool,
  logger,
  noHandleSignals: true,
  taskList: {
    mail: () => {
      last = performance.now()
      if (first === 0) first = last
      else jobs++
    }
  },
  preset: {
    worker: {
      concurrentJobs: Number(concurrent), maxPoolSize: Number(concurrent) + 1,
      localQueue: { size: Number(local) }, completeJobBatchDelay: 0, failJobBatchDelay: 0
    }
  }
})
await new Promise((done) => setTimeout(done, Number(ms)))
const result = { jobs, seconds: (last - first) / 1000 }
await runner.stop()
await pgPool.end()
console.log(JSON.stringify(result))
process.exit()
