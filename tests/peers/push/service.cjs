// web-push-testing as a push service: decrypts what it is sent and checks who signed it. node service.cjs PORT
const Server = require('web-push-testing/src/server.js');
const { PushApiModel } = require('web-push-testing/src/PushApiModel.js');

new Server(new PushApiModel(), Number(process.argv[2])).startServer();
