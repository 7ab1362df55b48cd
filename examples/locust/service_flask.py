"""The synchronous service: one thread for each request. Its argument is the port."""

import sys

from flask import Flask, jsonify, request
from model import predict

app = Flask(__name__)


@app.post("/predict")
def answer():
    """Predict from the posted features."""
    return jsonify(predict(request.get_json()["features"]))


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), threaded=True)
